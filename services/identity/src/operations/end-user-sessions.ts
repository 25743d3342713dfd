import { ApiError, untilMade } from '@kith/base';
import { endUserSessions } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { endAllSessions } from '../sessions.ts';

/** Ends all sessions of a user for an operator, including those that are just being opened (spec#admin-users-end-sessions). */
export const endUserSessionsHandler = handler(endUserSessions, async (request, app: AppContext) => {
  const { projectId, userId } = request.params;
  const attempt = async () => {
    const before = await app.store.users.account(projectId, userId);
    if (!before) throw new ApiError('user/not-found');
    return (await endAllSessions(app, before, 'ended-by-operator')) && { result: undefined };
  };
  return untilMade(attempt, request);
});
