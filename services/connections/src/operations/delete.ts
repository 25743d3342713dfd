import { deleteConnection } from '@kith/contracts';
import { handler } from '@kith/service';
import { act } from '../act.ts';
import type { AppContext } from '../app.ts';
import { endings } from '../connection-views.ts';
import type { Pair } from '../pair.ts';
import { pairOfConnection } from '../pair-of-connection.ts';

/**
 * Withdraws a request or ends a connection. Only the requester may withdraw a request, but both users may end a connection. If
 * the caller is neither of the two users, the connection is not found (spec#connections-delete).
 */
export const deleteHandler = handler(deleteConnection, async (request, app: AppContext) => {
  const { projectId, caller, params, deadline } = request;
  const ending = (pair: Pair) => (pair.state === 'pending' ? 'withdraw' : 'disconnect');
  const by = { userId: caller.userId, action: ending, deadline } as const;
  const { action } = await act(app, by, () => pairOfConnection(app, projectId, params.connectionId));
  return { message: action === 'withdraw' ? endings.withdraw : endings.disconnect };
});
