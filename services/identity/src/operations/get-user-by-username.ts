import { getUserByUsername } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { asShown, showUser } from '../show-user.ts';

/** Returns the user with a username; upper and lower case do not matter (spec#users-by-username). */
export const getUserByUsernameHandler = handler(getUserByUsername, async (request, app: AppContext) =>
  showUser(app, request, async () =>
    asShown(app, request, await app.store.people.findByUsername(request.projectId, request.query.username)),
  ),
);
