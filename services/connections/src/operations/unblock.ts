import { ApiError } from '@kith/base';
import { unblockUser } from '@kith/contracts';
import { findUsers, handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { unblock } from '../blocks.ts';

/** Removes the caller's block of a user (spec#blocks-unblock). */
export const unblockHandler = handler(unblockUser, async (request, app: AppContext) => {
  const { projectId, caller, deadline } = request;
  const { userId } = request.params;
  if (userId === caller.userId) throw new ApiError('connection/self-block');
  const users = await findUsers(app, { projectId, userIds: [userId] }, request);
  if (users.size === 0) throw new ApiError('connection/user-not-found');
  await unblock(app, { projectId, blockerId: caller.userId, blockedId: userId, deadline });
  return undefined;
});
