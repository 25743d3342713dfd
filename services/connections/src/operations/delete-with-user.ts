import { ApiError } from '@kith/base';
import { deleteConnectionWithUser } from '@kith/contracts';
import { handler } from '@kith/service';
import { act } from '../act.ts';
import type { AppContext } from '../app.ts';
import { endings } from '../connection-views.ts';
import type { Action } from '../machine.ts';
import type { Pair } from '../pair.ts';

/**
 * Ends the request or connection between the caller and another user. It withdraws the caller's request, declines the other
 * user's request, or ends the connection (spec#connections-delete-with-user).
 */
export const deleteWithUserHandler = handler(deleteConnectionWithUser, async (request, app: AppContext) => {
  const { projectId, caller, deadline } = request;
  const { userId } = request.params;
  if (userId === caller.userId) throw new ApiError('connection/self-disconnect');
  const action = (pair: Pair) => endingFor(caller.userId, pair);
  const by = { userId: caller.userId, action, deadline };
  const { action: done, life } = await act(app, by, () => app.store.pairOf(projectId, caller.userId, userId));
  if (done === 'withdraw' || done === 'disconnect') return { message: endings[done], action: done };
  return { id: life.connectionId, status: 'declined' as const, respondedAt: life.respondedAt!.toISOString() };
});

function endingFor(userId: string, pair: Pair): Action {
  if (pair.state !== 'pending') return 'disconnect';
  return pair.requesterId === userId ? 'withdraw' : 'decline';
}
