import { getUser } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { seesOwn, showUser } from '../show-user.ts';

/**
 * Returns a user's public profile. Users who ask for themselves, and server keys, get the full profile (spec#users-get,
 * spec#users-own).
 */
export const getUserHandler = handler(getUser, async (request, app: AppContext) => {
  const { projectId, params } = request;
  const { users } = app.store;
  return showUser(app, request, () =>
    seesOwn(request, params.userId)
      ? users.find(projectId, params.userId)
      : users.account(projectId, params.userId),
  );
});
