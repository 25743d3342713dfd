import { ApiError } from '@kith/base';
import { collectionCreated, getRootCollection as spec } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { collectionEvent, newCollection, ownerOf, toCollection } from '../collection.ts';

/**
 * Returns the caller's root. The caller's first request makes the root. If several first requests come at the same time, only
 * one of them makes the root (spec#collections-root). If the account has just ended, its root may be deleted, but not purged
 * yet. Then nothing is made, and the answer is `gateway/unavailable`.
 */
export const getRoot = handler(spec, async (request, app: AppContext) => {
  const owner = ownerOf(request);
  const known = await app.store.root(owner);
  if (known) return toCollection(known);
  const made = newCollection(owner, { name: 'root', parent: null });
  if (await app.store.insert(made, collectionEvent(collectionCreated, made))) {
    app.relay.kick();
    return toCollection(made);
  }
  const winner = await app.store.root(owner);
  if (!winner) throw new ApiError('gateway/unavailable');
  return toCollection(winner);
});
