import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from '@kith/base';
import { connectionBlocked, connectionUnblocked, connectionWithdrawn, userDeleted } from '@kith/contracts';
import {
  auditEventsOf,
  type EndedUser,
  type EventSubscription,
  eraseEvents,
  hasComeBack,
  nextLook,
  Sweeper,
  subscription,
} from '@kith/service';
import { act } from './act.ts';
import type { AppContext } from './app.ts';
import { unblock } from './blocks.ts';
import { otherOf, withoutRequest } from './pair.ts';
import { pairEvents } from './store/keys.ts';

/**
 * Handles the end of an account. This handler removes the user's profile immediately. The eraser removes the user's other data
 * in the background (spec#users-erasure).
 */
export const endedUsers: EventSubscription<AppContext> = subscription({
  durable: 'connections-users',
  events: [userDeleted],
  async apply(event, { bus, store }: AppContext) {
    if (await hasComeBack(bus, event)) return;
    const user = { projectId: event.projectId, userId: event.data.id };
    await store.profiles.forget(user, Date.parse(event.occurredAt));
    await store.erasure.mark(user, Date.now());
  },
});

const everyMs = 1_000;
/** If a request found the user before the account's end, it may go on for at most this time after the end, in ms. */
const lateMs = 60_000;

type Parts = Pick<AppContext, 'store' | 'relay' | 'bus'>;

/**
 * When a pair is erased, its events of these types stay on the bus. They hold only ids. Consumers that lag behind need them to
 * undo the earlier events of the pair.
 */
const takingBack: readonly string[] = [connectionWithdrawn, connectionBlocked, connectionUnblocked].map(
  ({ type }) => type,
);

/** Regularly erases the data of users whose accounts have ended, until nothing is left. */
export function startEraser(parts: Parts, options: { log: Logger }): { stop(): Promise<void> } {
  let stopped = false;
  const sweeper = new Sweeper(() => eraseDue(parts, () => stopped), { everyMs, log: options.log });
  return {
    stop() {
      stopped = true;
      return sweeper.stop();
    },
  };
}

/** Erases the data of all ended users whose next erasure run is due. */
export function eraseDue(parts: Parts, isStopped: () => boolean): Promise<void> {
  return parts.store.erasure.eachDue((ended) => eraseUser(parts, ended, isStopped), { isStopped });
}

/**
 * Ends every pair of a user, stores an event about each end, and then removes the pair. If a pair's events are not published
 * yet, the pair stays until the next run. After all pairs, the user's totals and settings are erased. If requests store more
 * data of the user meanwhile, later runs erase it.
 */
export async function eraseUser(parts: Parts, ended: EndedUser, isStopped = () => false): Promise<void> {
  const { erasure } = parts.store;
  const now = Date.now();
  let left = 0;
  for (const otherId of await erasure.partners(ended)) {
    if (isStopped()) return;
    if (!(await erasePair(parts, ended, otherId))) left++;
    await nextTurn();
  }
  if (left > 0) return erasure.lookAgain(ended, now + everyMs);
  await erasure.removeTotals(ended);
  await parts.store.settings.erase(ended);
  await parts.store.replies?.forget(ended);
  await eraseEvents({ bus: parts.bus, outbox: parts.store.outbox }, auditEventsOf(ended));
  await erasure.lookAgain(ended, nextLook(ended.endedAt, now, { firstMs: lateMs, lateMs }));
}

async function erasePair(parts: Parts, ended: EndedUser, otherId: string): Promise<boolean> {
  const { projectId, userId: actorId } = ended;
  const read = () => parts.store.pairOf(projectId, actorId, otherId);
  for (;;) {
    const [pair] = await parts.store.pairsWith(projectId, actorId, [otherId]);
    // If there is no pair, another replica has already removed it. The pair's last event is kept, because it tells consumers
    // that the pair has ended.
    if (!pair) return true;
    const [block] = pair.blocks;
    if (block) {
      const { blockerId } = block;
      await unblock(parts, { projectId, blockerId, blockedId: otherOf(pair, blockerId), actorId });
    } else if (pair.state === 'pending' || pair.state === 'accepted') {
      const action = pair.state === 'pending' ? 'withdraw' : 'disconnect';
      await act(parts, { userId: pair.requesterId!, action, actorId }, read);
    } else if (pair.state === 'declined') {
      await parts.store.change(pair, withoutRequest(pair));
    } else {
      const { range, last } = pairEvents(pair);
      await eraseEvents({ bus: parts.bus, outbox: parts.store.outbox }, range, {
        keep: last,
        withdraw: ({ type }) => !takingBack.includes(type),
      });
      return parts.store.erasure.removePair(pair);
    }
  }
}
