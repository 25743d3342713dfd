import type { AppContext } from './app.ts';
import { walk } from './walk.ts';

interface Asking {
  projectId: string;
  requesterId: string;
  receiverId: string;
  /** When to stop looking for a common connection, in Unix ms. */
  deadline: number;
}

/** Whether the receiver's settings allow the requester to ask for a connection (spec#connections-settings). */
export async function mayAsk(app: Pick<AppContext, 'store'>, of: Asking): Promise<boolean> {
  const { projectId, receiverId } = of;
  const { requestsFrom } = await app.store.settings.of({ projectId, userId: receiverId });
  if (requestsFrom === 'common') return haveCommon(app, of);
  return requestsFrom === 'everyone';
}

/**
 * Whether somebody is connected with both users. The function walks the shorter one of the two users' lists of connections,
 * 1,000 people at a time. For each person in this list, the function looks up the pair of this person and the owner of the
 * longer list. So the answer is exact, no list is held in memory, and the cost grows with the shorter list. After the deadline,
 * the function throws `DeadlinePassed`.
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
  for await (const entries of walk(store, { projectId, ownerId, list: 'established', deadline })) {
    const pairs = await store.pairsWith(
      projectId,
      otherId,
      entries.map(({ userId }) => userId),
    );
    if (pairs.some(({ state }) => state === 'accepted')) return true;
  }
  return false;
}
