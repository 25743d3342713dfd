import { listUserConnections } from '@kith/contracts';
import { ApiError, findUsers, handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { hiddenFrom } from '../blocks.ts';
import { connectionListOf } from '../connection-views.ts';
import { listPeople, readPage } from '../list-people.ts';

/**
 * A user's established connections as the caller may see them: without whom the caller blocks or is blocked by, in
 * rows and total; empty where that is the user asked for (SPEC B3).
 */
export const listOfUserHandler = handler(listUserConnections, async (request, app: AppContext) => {
  const { projectId, caller, query } = request;
  const ownerId = request.params.userId;
  const of = { spec: listUserConnections, ownerId, list: 'established' } as const;
  const { page } = readPage(request, of);
  const users = await findUsers(app, { projectId, userIds: [ownerId] }, request);
  if (users.size === 0) throw new ApiError('connection/user-not-found');
  const hidden = caller ? await hiddenFrom(app, { projectId, userId: caller.userId }) : new Set<string>();
  if (hidden.has(ownerId)) {
    const nothing = { entries: [], page, limit: query.limit, total: 0, hasMore: false };
    return connectionListOf(nothing, request);
  }
  return connectionListOf(await listPeople(app, request, { ...of, hidden }), request);
});
