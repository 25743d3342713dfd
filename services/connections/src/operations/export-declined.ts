import { exportDeclinedRequests } from '@kith/contracts';
import { exportPage, internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { requestOf } from '../connection-views.ts';
import { publicUsers } from '../export-people.ts';
import { isDeclined, otherOf } from '../pair.ts';

/** Gives a user's declined requests for an export, either side's. No list has them: they are read from the pairs. */
export const exportDeclinedHandler = internalHandler(
  exportDeclinedRequests,
  async (body, app: AppContext, context) => {
    const { projectId, userId, after, limit } = body;
    const pairs = await app.store.declined({ projectId, userId }, { after: after ?? '', limit: limit + 1 });
    const rows = pairs.filter(isDeclined).map((pair) => ({ ...pair, userId: otherOf(pair, userId) }));
    const showUser = await publicUsers(app, rows, { body, context });
    return exportPage(rows, {
      limit,
      show: (row) => {
        const { connectionId: id, requestedAt, respondedAt, message } = row;
        const user = showUser(row.userId, requestedAt);
        const request = requestOf(
          { id, user, message, requestedAt },
          row.requesterId === userId ? 'sent' : 'received',
        );
        return { ...request, respondedAt: respondedAt.toISOString() };
      },
      position: (row) => row.userId,
    });
  },
);
