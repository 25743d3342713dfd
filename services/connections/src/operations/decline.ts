import { declineConnection } from '@kith/contracts';
import { handler } from '@kith/service';
import { act } from '../act.ts';
import type { AppContext } from '../app.ts';
import { pairOfConnection } from '../pair-of-connection.ts';

/**
 * Declines a pending request. An unknown id, an id of another project, and the id of other people's request all get the same
 * answer (spec#connections-no-party).
 */
export const declineHandler = handler(declineConnection, async (request, app: AppContext) => {
  const { projectId, caller, params, deadline } = request;
  const by = { userId: caller.userId, action: 'decline', deadline } as const;
  const { life } = await act(app, by, () => pairOfConnection(app, projectId, params.connectionId));
  return { id: life.connectionId, status: 'declined' as const, respondedAt: life.respondedAt!.toISOString() };
});
