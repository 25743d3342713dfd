import { ApiError } from '@kith/base';
import { generalPaginationOf, listUserSessions } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { readSessions, sessionInfoOf } from '../session-list.ts';

/** Lists a user's sessions for operators, newest first, by page or by cursor (spec#admin-users-sessions). */
export const listUserSessionsHandler = handler(listUserSessions, async (request, app: AppContext) => {
  const { params } = request;
  if (!(await app.store.users.account(params.projectId, params.userId))) throw new ApiError('user/not-found');
  const found = await readSessions(app, request, { name: listUserSessions.name, ...params });
  return { data: found.rows.map(sessionInfoOf), pagination: generalPaginationOf(found) };
});
