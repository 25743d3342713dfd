import { isEntitySaved as spec } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { ownerOf } from '../collection.ts';

/**
 * How many collections an answer lists. With more collections, the answer might not fit into a message of the bus
 * (`maxPayload`).
 */
const mostListed = 1_000;

/**
 * Returns the caller's collections in which an entity is saved, the oldest collection first
 * (spec#collections-is-saved).
 */
export const isEntitySaved = handler(spec, async (request, app: AppContext) => {
  const found = await app.store.holding(ownerOf(request), request.query.entityId);
  found.sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1));
  const collections = found.slice(0, mostListed).map(({ id, name }) => ({ id, name }));
  return { saved: found.length > 0, collections };
});
