import { decodeCursor, encodeCursor, foreignCursor, type ListPosition } from '@kith/base';
import { generalPaginationOf, listFiles as spec } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { ownerOf, toFile } from '../file.ts';
import { isPosition, positionOf } from '../store/place.ts';

/** Lists the caller's files, newest first, by page or by cursor (spec#storage-list). */
export const listFiles = handler(spec, async (request, app: AppContext) => {
  const owner = ownerOf(request);
  const { limit, cursor } = request.query;
  const binding = [spec.name, owner.projectId, owner.userId];
  const position = cursor === undefined ? undefined : readCursor(cursor, binding);
  const page = position?.page ?? request.query.page;
  const account = await app.store.account(owner);
  const total = account.doc.files;
  const skip = (page - 1) * limit;
  const from = position ? { after: position.after } : { skip };
  const isPastEnd = !position && skip >= total;
  // Reads one row more than the page shows, to know whether another page follows.
  const found = isPastEnd ? [] : await app.store.list(account, { ...from, limit: limit + 1 });
  const shown = found.slice(0, limit);
  const hasMore = found.length > limit;
  const last = shown.at(-1);
  if (hasMore && last) {
    request.linkNext(encodeCursor({ after: positionOf(last), page: page + 1 }, binding));
  }
  return {
    data: shown.map((file) => toFile(file, app.addresses)),
    pagination: generalPaginationOf({ page, limit, total, hasMore }),
  };
});

function readCursor(cursor: string, binding: readonly string[]): ListPosition {
  const code = 'storage/invalid-query';
  const position = decodeCursor(cursor, binding, code);
  if (isPosition(position.after)) return position;
  throw foreignCursor(code);
}
