import { generalPaginationOf, listSessions } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { readPage } from '../listing.ts';

/** Lists the caller's sessions, newest first, by page or by cursor (spec#accounts-sessions-list). */
export const listSessionsHandler = handler(listSessions, async (request, app: AppContext) => {
  const { projectId, caller } = request;
  const of = { projectId, userId: caller.userId, at: new Date() };
  const found = await readPage(request, {
    binding: [listSessions.name, projectId, caller.userId],
    code: 'auth/invalid-query',
    read: async (range) => {
      const { rows, total } = await app.store.sessions.list(of, range);
      return { rows: rows.map((session) => ({ ...session, id: session.sid })), total };
    },
  });
  return {
    data: found.rows.map(({ id, createdAt, lastUsedAt, userAgent, ip }) => ({
      id,
      createdAt: createdAt.toISOString(),
      lastUsedAt: lastUsedAt.toISOString(),
      userAgent,
      ip,
      current: id === caller.sessionId,
    })),
    pagination: generalPaginationOf(found),
  };
});
