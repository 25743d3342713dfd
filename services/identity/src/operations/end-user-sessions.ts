import { ApiError, untilMade } from '@kith/base';
import { endUserSessions } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { endAllSessions } from '../sessions.ts';

/**
 * On behalf of an operator, ends all sessions of a user, including those that are being opened at the moment
 * (spec#admin-users-end-sessions).
 */
export const endUserSessionsHandler = handler(endUserSessions, async (request, app: AppContext) => {
  const { projectId, userId } = request.params;
  const attempt = async () => {
    const before = await app.store.users.account(projectId, userId);
    if (!before) throw new ApiError('user/not-found');
    return (await endAllSessions(app, before, 'ended-by-operator')) && { result: undefined };
  };
  return untilMade(attempt, request);
});
