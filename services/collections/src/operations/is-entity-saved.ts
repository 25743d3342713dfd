import { isEntitySaved as spec } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { ownerOf } from '../collection.ts';

/**
 * Returns the caller's collections in which an entity is saved, the oldest collection first
 * (spec#collections-is-saved).
 */
export const isEntitySaved = handler(spec, async (request, app: AppContext) => {
  const found = await app.store.holding(ownerOf(request), request.query.entityId);
  found.sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1));
  return { saved: found.length > 0, collections: found.map(({ id, name }) => ({ id, name })) };
});
