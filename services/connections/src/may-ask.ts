import { ApiError } from '@kith/base';
import type { AppContext } from './app.ts';
import { walk } from './walk.ts';

interface Asking {
  projectId: string;
  requesterId: string;
  receiverId: string;
  /** Until when is looked for somebody in common, Unix ms. */
  deadline: number;
}

/** Whether a user may ask another to connect, as the other has decided (spec#connections-settings). */
export async function mayAsk(app: Pick<AppContext, 'store'>, of: Asking): Promise<boolean> {
  const { projectId, receiverId } = of;
  const { requestsFrom } = await app.store.settings.of({ projectId, userId: receiverId });
  if (requestsFrom === 'common') return haveCommon(app, of);
  return requestsFrom === 'everyone';
}

/**
 * Whether somebody is connected with both: walks the shorter of the two lists, 1,000 people at a time, and looks their pairs with the
 * other one up. So it is exact, holds no list in memory, and costs as much as the shorter list is long. Throws
 * `gateway/unavailable` at the deadline: nobody waits any more.
 */
async function haveCommon(app: Pick<AppContext, 'store'>, of: Asking): Promise<boolean> {
  const { projectId, requesterId, receiverId, deadline } = of;
  const { store } = app;
  const [own, theirs] = await Promise.all([
    store.totals(projectId, requesterId),
    store.totals(projectId, receiverId),
  ]);
  const isOwn = own.established <= theirs.established;
  const [ownerId, otherId] = isOwn ? [requesterId, receiverId] : [receiverId, requesterId];
  for await (const entries of walk(store, { projectId, ownerId, list: 'established' })) {
    if (Date.now() > deadline) throw new ApiError('gateway/unavailable');
    const pairs = await store.pairsWith(
      projectId,
      otherId,
      entries.map(({ userId }) => userId),
    );
    if (pairs.some(({ state }) => state === 'accepted')) return true;
  }
  return false;
}
