import { ApiError } from '@kith/base';
import { blockUser } from '@kith/contracts';
import { findUsers, handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { block } from '../blocks.ts';

/** Blocks a user (spec#blocks-block). */
export const blockHandler = handler(blockUser, async (request, app: AppContext) => {
  const { projectId, caller, deadline } = request;
  const { userId } = request.params;
  if (userId === caller.userId) throw new ApiError('connection/self-block');
  // The caller has to exist, too. Nothing may be stored about a user whose account has ended.
  const users = await findUsers(app, { projectId, userIds: [userId, caller.userId] }, request);
  if (users.size < 2) throw new ApiError('connection/user-not-found');
  await block(app, { projectId, blockerId: caller.userId, blockedId: userId, deadline });
  return undefined;
});
