import { ApiError, decodeCursor, encodeCursor, foreignCursor, type ListPosition } from '@kith/base';
import { generalPaginationOf, listEntities as spec } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { ownerOf } from '../collection.ts';
import { toSavedEntity } from '../entity.ts';
import { entityPosition, isEntityPosition } from '../store/entity-place.ts';

/** Lists the entities in one of the caller's collections, by page or by cursor (spec#collections-entities). */
export const listEntities = handler(spec, async (request, app: AppContext) => {
  const owner = ownerOf(request);
  const { collectionId } = request.params;
  const { limit, cursor, sortDir } = request.query;
  const binding = [spec.name, owner.projectId, owner.userId, collectionId, sortDir];
  const position = cursor === undefined ? undefined : readCursor(cursor, binding);
  const page = position?.page ?? request.query.page;
  const from = position ? { after: position.after } : { skip: (page - 1) * limit };
  // Reads one row more than the page shows, to know whether another page follows.
  const range = { from, limit: limit + 1, newestFirst: sortDir === 'desc' };
  const found = await app.store.withEntities(owner, collectionId, range);
  if (!found) throw new ApiError('collection/not-found');
  const { collection, entities } = found;
  const total = collection.entityCount;
  const shown = entities.slice(0, limit);
  const hasMore = entities.length > limit;
  const last = shown.at(-1);
  if (hasMore && last) {
    request.linkNext(encodeCursor({ after: entityPosition(last), page: page + 1 }, binding));
  }
  return {
    data: shown.map(toSavedEntity),
    pagination: generalPaginationOf({ page, limit, total, hasMore }),
  };
});

function readCursor(cursor: string, binding: readonly string[]): ListPosition {
  const code = 'collection/invalid-query';
  const position = decodeCursor(cursor, binding, code);
  if (isEntityPosition(position.after)) return position;
  throw foreignCursor(code);
}
