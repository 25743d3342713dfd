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
  /** The actor that the event names, if it is not the blocker: the user who has ended their account. */
  actorId?: string;
  /** How long to keep trying, Unix ms. */
  deadline?: number;
}

/**
 * Blocks a user and ends any connection or request between the two, in one change with one event. Does nothing if the block
 * exists.
 */
export async function block(app: Pick<AppContext, 'store' | 'relay'>, of: Blocking): Promise<void> {
  await set(app, of, connectionBlocked, withBlock);
}

/** Removes a block; does nothing when there is none. */
export async function unblock(app: Pick<AppContext, 'store' | 'relay'>, of: Blocking): Promise<void> {
  await set(app, of, connectionUnblocked, (pair, { userId }) => withoutBlock(pair, userId));
}

/** Everybody a user blocks or is blocked by. Both lists are read in parallel, in one round trip for up to 1,000 entries each. */
export async function hiddenFrom(
  app: Pick<AppContext, 'store'>,
  of: { projectId: string; userId: string },
): Promise<Set<string>> {
  const { projectId, userId } = of;
  const hidden = new Set<string>();
  const lists = (['blocks', 'blockedBy'] as const).map(async (list) => {
    for await (const entries of walk(app.store, { projectId, ownerId: userId, list })) {
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
    // The connection or request that the block ended. A declined request had ended before.
    const connectionId = after.state === before.state ? null : before.connectionId;
    const data = { blockerId, blockedId: otherOf(after, blockerId), connectionId };
    const event = makeEvent(spec, { ...eventOfPair(after), actorId, occurredAt: at, data });
    return { after, event };
  };
  await changePair(app, read, next, deadline);
}
