import { decodeCursor, encodeCursor, foreignCursor } from '@kith/base';
import { generalPaginationOf, listNotifications } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { toItem } from '../feed.ts';

/**
 * The beginning of the addresses that old clients use. For these addresses, the answer is a bare array
 * (spec#notifications-list-v6).
 */
const bareForm = '/api/v6';

/** The caller's notifications, newest first, by page or by cursor (spec#notifications-list). */
export const listHandler = handler(listNotifications, async (request, app: AppContext) => {
  const { projectId, caller, query } = request;
  const { limit } = query;
  const owner = { projectId, userId: caller.userId };
  const binding = [listNotifications.name, projectId, caller.userId];
  const position = query.cursor === undefined ? undefined : readCursor(query.cursor, binding);
  const page = position?.page ?? query.page;

  const feed = await app.store.feed(owner);
  const upTo = Math.min(feed.seq, position ? position.after - 1 : feed.seq);
  const skip = position ? 0 : (page - 1) * limit;
  // Reads one row more than the page has, to know whether another page follows.
  const found = skip >= feed.total ? [] : await app.store.newest(owner, { upTo, skip, limit: limit + 1 });
  const entries = found.slice(0, limit);
  const hasMore = found.length > limit;
  const last = entries.at(-1);
  if (hasMore && last) {
    request.linkNext(encodeCursor({ after: String(last.seq), page: page + 1 }, binding));
  }
  const data = entries.map((entry) => toItem(entry, feed));
  if (request.form === bareForm) return data;
  return { data, pagination: generalPaginationOf({ page, limit, total: feed.total, hasMore }) };
});

function readCursor(cursor: string, binding: readonly string[]): { after: number; page: number } {
  const code = 'app-notification/invalid-query';
  const { after, page } = decodeCursor(cursor, binding, code);
  if (/^[1-9]\d{0,14}$/.test(after)) return { after: Number(after), page };
  throw foreignCursor(code);
}
