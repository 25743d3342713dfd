import { ApiError } from '@kith/base';
import { countUserConnections } from '@kith/contracts';
import { findUsers, handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { hiddenInListOf } from '../hidden-lists.ts';
import { hiddenKeys } from '../visible.ts';

/**
 * Returns how many established connections a user has. This is the total that the same caller gets with the user's list
 * (spec#connections-count-of-user).
 */
export const countOfUserHandler = handler(countUserConnections, async (request, app: AppContext) => {
  const { projectId, caller, deadline } = request;
  const ownerId = request.params.userId;
  const users = await findUsers(app, { projectId, userIds: [ownerId] }, request);
  if (users.size === 0) throw new ApiError('connection/user-not-found');
  const hidden = await hiddenInListOf(app, { projectId, ownerId, callerId: caller?.userId, deadline });
  if (hidden.has(ownerId)) return { count: 0 };
  const hiddenOnes = () =>
    hiddenKeys(app.store, { projectId, ownerId, list: 'established' }, hidden, { settled: true });
  const read = async () => {
    const before = await hiddenOnes();
    const { established } = await app.store.totals(projectId, ownerId);
    const after = await hiddenOnes();
    return { count: Math.max(established - before.length, 0), isSure: before.join() === after.join() };
  };
  // If a connection with a hidden user was made or ended during the read, the total may or may not count this connection. In
  // this case, everything is read once more.
  const first = await read();
  return { count: first.isSure ? first.count : (await read()).count };
});
