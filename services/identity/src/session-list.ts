import type { SessionInfo } from '@kith/contracts';
import type { AppContext } from './app.ts';
import { type ListRequest, readPage } from './listing.ts';
import type { Session } from './store/index.ts';

/** Reads a page of a user's sessions, newest first. The cursors are valid only for the operation `name`. */
export function readSessions(
  app: AppContext,
  request: ListRequest,
  of: { name: string; projectId: string; userId: string },
) {
  const { name, projectId, userId } = of;
  const at = new Date();
  return readPage(request, {
    binding: [name, projectId, userId],
    code: 'auth/invalid-query',
    read: async (range) => {
      const { rows, total } = await app.store.sessions.list({ projectId, userId, at }, range);
      return { rows: rows.map((session) => ({ ...session, id: session.sid })), total };
    },
  });
}

/** A session as lists show it. */
export function sessionInfoOf(session: Session): Omit<SessionInfo, 'current'> {
  const { sid: id, createdAt, lastUsedAt, userAgent, ip } = session;
  return { id, createdAt: createdAt.toISOString(), lastUsedAt: lastUsedAt.toISOString(), userAgent, ip };
}
