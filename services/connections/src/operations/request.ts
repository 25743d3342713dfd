import { ApiError } from '@kith/base';
import { requestConnection } from '@kith/contracts';
import { findUsers, handler } from '@kith/service';
import { act } from '../act.ts';
import type { AppContext } from '../app.ts';
import { decide } from '../machine.ts';
import { mayAsk } from '../may-ask.ts';
import { partOf } from '../pair.ts';

/** Asks another user to connect. The checks come in the order of spec#connections-request-refused. */
export const requestHandler = handler(requestConnection, async (request, app: AppContext) => {
  const { projectId, caller, body, deadline } = request;
  const receiverId = request.params.userId;
  if (receiverId === caller.userId) throw new ApiError('connection/self-request');
  // The caller's profile is needed, too, so that the receiver's list shows the caller immediately.
  const users = await findUsers(app, { projectId, userIds: [receiverId, caller.userId] }, request);
  if (users.size < 2) throw new ApiError('connection/user-not-found');
  const read = () => app.store.pairOf(projectId, caller.userId, receiverId);
  if (!(await mayAsk(app, { projectId, requesterId: caller.userId, receiverId, deadline }))) {
    // The receiver's settings do not allow the request. If the state of the pair does not allow it either, the caller gets the
    // error for the state.
    const pair = await read();
    const refusal = decide(pair.state, partOf(pair, caller.userId), 'request', pair.blocks.length > 0);
    throw new ApiError(typeof refusal === 'string' ? refusal : 'connection/not-allowed');
  }
  const by = { userId: caller.userId, action: 'request', message: body.message, deadline } as const;
  const { life } = await act(app, by, read);
  return { id: life.connectionId, status: 'pending' as const, createdAt: life.requestedAt.toISOString() };
});
