import { exportDeclinedRequests } from '@kith/contracts';
import { exportPage, internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { requestOf } from '../connection-views.ts';
import { publicUsers } from '../export-people.ts';

/** Returns a page of a user's declined requests, sent and received, for an export. */
export const exportDeclinedHandler = internalHandler(
  exportDeclinedRequests,
  async (body, app: AppContext, context) => {
    const { projectId, userId, after, limit } = body;
    const rows = await app.store.declined({ projectId, userId }, { after: after ?? '', limit: limit + 1 });
    const showUser = await publicUsers(app, rows, { body, context });
    return exportPage(rows, {
      limit,
      show: (row) => {
        const user = showUser(row.userId, row.requestedAt);
        return { ...requestOf({ ...row, user }, row.type), respondedAt: row.respondedAt.toISOString() };
      },
      position: (row) => row.userId,
    });
  },
);
