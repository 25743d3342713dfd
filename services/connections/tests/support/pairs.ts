import { connectionRequested } from '@kith/contracts';
import { makeEvent } from '@kith/service';
import { type Action, decide } from '../../src/machine.ts';
import { advance, type Pair, partOf } from '../../src/pair.ts';
import type { ConnectionStore } from '../../src/store/index.ts';

/** An event for a change of a pair. Stores do not look at its content. */
export function eventOf(pair: Pair, userId: string, at: Date) {
  const { projectId, lower, higher, seq, connectionId, requesterId, receiverId, message } = pair;
  return makeEvent(connectionRequested, {
    projectId,
    actorId: userId,
    aggregate: { type: 'connection', id: `${lower}:${higher}`, seq },
    data: {
      connectionId: connectionId ?? lower,
      requesterId: requesterId ?? lower,
      receiverId: receiverId ?? higher,
      message,
    },
    occurredAt: at,
  });
}

/** Performs a user's action directly in the store, without an operation. If `at` is given, the action happens at this time. */
export async function perform(
  store: ConnectionStore,
  of: { projectId: string; userId: string; otherId: string; action: Action; at?: Date; message?: string },
): Promise<Pair> {
  const { projectId, userId, otherId, action, at = new Date(), message = null } = of;
  const before = await store.pairOf(projectId, userId, otherId);
  const decision = decide(before.state, partOf(before, userId), action);
  if (typeof decision === 'string') throw new Error(decision);
  const after = advance(before, decision, { userId, at, message });
  if (!(await store.change(before, after, eventOf(after, userId, at)))) throw new Error('lost a race');
  return after;
}

/** Connects two users in a store, at a set time. */
export async function connectAt(
  store: ConnectionStore,
  of: { projectId: string; userId: string; otherId: string; at: Date },
): Promise<Pair> {
  await perform(store, { ...of, action: 'request' });
  return perform(store, { ...of, userId: of.otherId, otherId: of.userId, action: 'accept' });
}
