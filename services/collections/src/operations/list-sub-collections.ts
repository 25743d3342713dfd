import { ApiError, decodeCursor, encodeCursor } from '@kith/base';
import { listSubCollections as spec } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { ownerOf, toCollection } from '../collection.ts';
import { positionOf } from '../store/place.ts';

/**
 * Lists the collections directly below one of the caller's collections, oldest first. The answer has a link to the next page
 * (spec#collections-list-sub).
 */
export const listSubCollections = handler(spec, async (request, app: AppContext) => {
  const owner = ownerOf(request);
  const { collectionId } = request.params;
  const { limit, cursor } = request.query;
  const binding = [spec.name, owner.projectId, owner.userId, collectionId];
  const start =
    cursor !== undefined
      ? decodeCursor(cursor, binding, 'collection/invalid-query')
      : { after: null, page: 1 };
  const found = await app.store.children(owner, collectionId, { after: start.after, limit: limit + 1 });
  if (!found) throw new ApiError('collection/not-found');
  const page = found.slice(0, limit);
  const last = page.at(-1);
  if (last && found.length > limit) {
    request.linkNext(encodeCursor({ after: positionOf(last), page: start.page + 1 }, binding));
  }
  return page.map(toCollection);
});
