import { addEntity as spec } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { changeCollection, changeEntity } from '../change.ts';
import { changed, toCounted } from '../collection.ts';

/**
 * Saves an entity in a collection of the caller's. Saving it again changes nothing: there is no event, and the entity keeps the
 * time and the metadata it was first saved with (spec#collections-add-entity).
 */
export const addEntity = handler(spec, async (request, app: AppContext) => {
  const { entityId, metadata } = request.body;
  return changeCollection(request, app, async (before) => {
    if (await app.store.entity(before, entityId)) return toCounted(before);
    // Later than all earlier ones, so that it comes after them in the list even if the machines' clocks differ.
    const addedAt = Math.max(Date.now(), before.updatedAt + 1);
    const after = changed(before, { entityCount: before.entityCount + 1, updatedAt: addedAt });
    const entity = { entityId, addedAt, metadata: metadata ?? null };
    return changeEntity(app, { before, after }, { kind: 'add', entity });
  });
});
