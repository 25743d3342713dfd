import { addEntity as spec } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { changeCollection, changeEntity, unchanged } from '../change.ts';
import { changed } from '../collection.ts';

/**
 * Saves an entity in one of the caller's collections. If the entity is saved there already, nothing changes. There is no event,
 * and the entity keeps its time and its metadata (spec#collections-add-entity).
 */
export const addEntity = handler(spec, async (request, app: AppContext) => {
  const { entityId, metadata } = request.body;
  return changeCollection(request, app, async (before) => {
    if (await app.store.entity(before, entityId)) return unchanged(app, before);
    // `addedAt` is later than the times of all earlier entities. So the new entity comes after them in the list, even if the
    // machines' clocks differ.
    const addedAt = Math.max(Date.now(), before.updatedAt + 1);
    const after = changed(before, { entityCount: before.entityCount + 1, updatedAt: addedAt });
    const entity = { entityId, addedAt, metadata: metadata ?? null };
    return changeEntity(app, { before, after }, { kind: 'add', entity });
  });
});
