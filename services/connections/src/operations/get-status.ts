import { ApiError } from '@kith/base';
import { getConnectionStatus } from '@kith/contracts';
import { findUsers, handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import type { Pair } from '../pair.ts';

/** Returns the state between the caller and another user (spec#connections-status). */
export const getStatusHandler = handler(getConnectionStatus, async (request, app: AppContext) => {
  const { projectId, caller } = request;
  const { userId } = request.params;
  if (userId === caller.userId) throw new ApiError('connection/self-check');
  const pair = await app.store.pairOf(projectId, caller.userId, userId);
  if (pair.state === 'none') {
    const users = await findUsers(app, { projectId, userIds: [userId] }, request);
    if (users.size === 0) throw new ApiError('connection/user-not-found');
  }
  return statusFor(caller.userId, pair);
});

function statusFor(userId: string, pair: Pair) {
  const { state, requesterId, connectionId, requestedAt, respondedAt } = pair;
  if (state === 'none') return { status: 'none' as const };
  const type = requesterId === userId ? ('sent' as const) : ('received' as const);
  const ids = { connectionId: connectionId! };
  const requested = requestedAt!.toISOString();
  if (state === 'pending') return { status: 'pending' as const, type, ...ids, createdAt: requested };
  const responded = respondedAt!.toISOString();
  if (state === 'declined') return { status: 'declined' as const, type, ...ids, respondedAt: responded };
  return { status: 'connected' as const, ...ids, connectedAt: responded, requestedAt: requested };
}
