import { deleteUser } from '@kith/contracts';
import { ApiError, handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { endSessionsOf } from '../sessions.ts';
import { userDeletedEvent } from '../user-events.ts';

// Each loss means that another change of the same user got through.
const attempts = 100;

/** Erases the caller's account and ends its sessions; what other services hold of it goes by the event (SPEC B2). */
export const deleteUserHandler = handler(deleteUser, async (request, app: AppContext) => {
  const { projectId, caller, params } = request;
  if (caller.userId !== params.userId) throw new ApiError('auth/forbidden');
  for (let attempt = 0; attempt < attempts; attempt++) {
    const user = await app.store.users.find(projectId, params.userId);
    if (!user) throw new ApiError('user/not-found');
    if ((await app.store.erasure.remove(user, userDeletedEvent(user, new Date()))) === 'stale') continue;
    app.relay.kick();
    try {
      await endSessionsOf(app, { projectId, userId: user.id }, 'deleted');
    } catch (error) {
      // The account is gone, whatever becomes of this; the sweep of erasures revokes what is left.
      request.log.warn({ err: error }, 'sessions of a deleted user are not revoked yet');
    }
    return undefined;
  }
  throw new Error('The user was changed by others again and again.');
});
