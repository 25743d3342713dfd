import { ApiError } from '@kith/base';
import { countUserConnections } from '@kith/contracts';
import { findUsers, handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { hiddenFrom } from '../blocks.ts';
import { hiddenKeys } from '../visible.ts';

/**
 * How many established connections a user has: the total of the list that the same caller gets
 * (spec#connections-count-of-user).
 */
export const countOfUserHandler = handler(countUserConnections, async (request, app: AppContext) => {
  const { projectId, caller } = request;
  const ownerId = request.params.userId;
  const users = await findUsers(app, { projectId, userIds: [ownerId] }, request);
  if (users.size === 0) throw new ApiError('connection/user-not-found');
  const hidden = caller ? await hiddenFrom(app, { projectId, userId: caller.userId }) : new Set<string>();
  if (hidden.has(ownerId)) return { count: 0 };
  const without = await hiddenKeys(app.store, { projectId, ownerId, list: 'established' }, hidden);
  const { established } = await app.store.totals(projectId, ownerId);
  return { count: Math.max(established - without.length, 0) };
});
