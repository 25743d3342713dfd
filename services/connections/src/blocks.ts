import { connectionBlocked, connectionUnblocked } from '@kith/contracts';
import { makeEvent } from '@kith/service';
import { eventOfPair } from './act.ts';
import type { AppContext } from './app.ts';
import { changePair } from './change-pair.ts';
import { otherOf, type Pair, withBlock, withoutBlock } from './pair.ts';
import { walk } from './walk.ts';

interface Blocking {
  projectId: string;
  blockerId: string;
  blockedId: string;
  /**
   * The actor in the event. By default, this is the blocker. If a block ends because one user's account has ended, this user is
   * the actor.
   */
  actorId?: string;
  /** When to stop trying, in Unix ms. */
  deadline?: number;
}

/**
 * Blocks a user and ends any connection or request between the two users. All of this is one change with one event. If the
 * block exists already, nothing happens.
 */
export async function block(app: Pick<AppContext, 'store' | 'relay'>, of: Blocking): Promise<void> {
  await set(app, of, connectionBlocked, withBlock);
}

/** Removes a block. If there is no block, nothing happens. */
export async function unblock(app: Pick<AppContext, 'store' | 'relay'>, of: Blocking): Promise<void> {
  await set(app, of, connectionUnblocked, (pair, { userId }) => withoutBlock(pair, userId));
}

/**
 * All users whom a user blocks, and all users who block this user. Both lists are read in parallel. If each list has fewer
 * than 1,000 entries, this takes one round trip. If the deadline (Unix ms) passes first, throws `DeadlinePassed`.
 */
export async function hiddenFrom(
  app: Pick<AppContext, 'store'>,
  of: { projectId: string; userId: string; deadline: number },
): Promise<Set<string>> {
  const { projectId, userId, deadline } = of;
  const hidden = new Set<string>();
  const lists = (['blocks', 'blockedBy'] as const).map(async (list) => {
    for await (const entries of walk(app.store, { projectId, ownerId: userId, list, deadline })) {
      for (const entry of entries) hidden.add(entry.userId);
    }
  });
  await Promise.all(lists);
  return hidden;
}

async function set(
  app: Pick<AppContext, 'store' | 'relay'>,
  of: Blocking,
  spec: typeof connectionBlocked | typeof connectionUnblocked,
  change: (pair: Pair, by: { userId: string; at: Date }) => Pair | null,
): Promise<void> {
  const { projectId, blockerId, blockedId, actorId = blockerId, deadline } = of;
  const read = () => app.store.pairOf(projectId, blockerId, blockedId);
  const next = (before: Pair, at: Date) => {
    const after = change(before, { userId: blockerId, at });
    if (!after) return null;
    // The connection or request that the block ended, or null. A block does not end a declined request, which has already
    // ended.
    const connectionId = after.state === before.state ? null : before.connectionId;
    const data = { blockerId, blockedId: otherOf(after, blockerId), connectionId };
    const event = makeEvent(spec, { ...eventOfPair(after), actorId, occurredAt: at, data });
    return { after, event };
  };
  await changePair(app, read, next, deadline);
}
