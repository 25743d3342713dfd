import { exportBlocks, exportConnections, exportReceivedRequests, exportSentRequests } from '@kith/contracts';
import { type InternalHandler, internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { connectionOf, requestOf } from '../connection-views.ts';
import { exportList } from '../export-people.ts';

/** The exports of a user's lists: connections, sent requests, received requests, and blocks. */
export const exportListHandlers: readonly InternalHandler<AppContext>[] = [
  internalHandler(exportConnections, (body, app: AppContext, context) =>
    exportList(app, { list: 'established', body, context }, (entry, user) =>
      connectionOf({ ...entry, user }),
    ),
  ),
  internalHandler(exportSentRequests, (body, app: AppContext, context) =>
    exportList(app, { list: 'sent', body, context }, (entry, user) => requestOf({ ...entry, user }, 'sent')),
  ),
  internalHandler(exportReceivedRequests, (body, app: AppContext, context) =>
    exportList(app, { list: 'received', body, context }, (entry, user) =>
      requestOf({ ...entry, user }, 'received'),
    ),
  ),
  internalHandler(exportBlocks, (body, app: AppContext, context) =>
    exportList(app, { list: 'blocks', body, context }, ({ id, requestedAt }, user) => ({
      id,
      user,
      createdAt: requestedAt.toISOString(),
    })),
  ),
];
