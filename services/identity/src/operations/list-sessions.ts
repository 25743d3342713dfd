import { generalPaginationOf, listSessions } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { readSessions, sessionInfoOf } from '../session-list.ts';

/** Lists the caller's sessions, newest first, by page or by cursor (spec#accounts-sessions-list). */
export const listSessionsHandler = handler(listSessions, async (request, app: AppContext) => {
  const { projectId, caller } = request;
  const found = await readSessions(app, request, {
    name: listSessions.name,
    projectId,
    userId: caller.userId,
  });
  return {
    data: found.rows.map((session) => ({
      ...sessionInfoOf(session),
      current: session.sid === caller.sessionId,
    })),
    pagination: generalPaginationOf(found),
  };
});
