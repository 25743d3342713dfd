import { ApiError } from '@kith/base';
import { deleteUser } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { eraseAccount } from '../erase-account.ts';
import { requireStepUp } from '../factors/step-up.ts';

/** Erases the caller's account (spec#users-delete). */
export const deleteUserHandler = handler(deleteUser, async (request, app: AppContext) => {
  const { projectId, caller, params, deadline } = request;
  if (caller.userId !== params.userId) throw new ApiError('auth/forbidden');
  await requireStepUp(app, projectId, caller);
  const isErased = await eraseAccount(app, { projectId, userId: params.userId, caller, deadline }, (error) =>
    request.log.warn({ err: error }, 'sessions of a deleted user are not revoked yet'),
  );
  if (!isErased) throw new ApiError('user/not-found');
  return undefined;
});
