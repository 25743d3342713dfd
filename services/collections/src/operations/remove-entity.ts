import { removeEntity as spec } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { changeCollection, changeEntity, unchanged } from '../change.ts';
import { changed } from '../collection.ts';

/**
 * Removes an entity from one of the caller's collections. If the entity is not there, nothing changes and there is no event
 * (spec#collections-remove-entity).
 */
export const removeEntity = handler(spec, async (request, app: AppContext) => {
  const { entityId } = request.params;
  return changeCollection(request, app, async (before) => {
    const entity = await app.store.entity(before, entityId);
    if (!entity) return unchanged(app, before);
    // If the count is 0, the entity was added after the collection was read. `null` makes `changeCollection` read the
    // collection again.
    if (before.entityCount === 0) return null;
    const after = changed(before, { entityCount: before.entityCount - 1 });
    return changeEntity(app, { before, after }, { kind: 'remove', entity });
  });
});
