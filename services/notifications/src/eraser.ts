import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from '@kith/base';
import { replayedId } from '@kith/bus';
import { eventSubject } from '@kith/contracts';
import {
  auditEventsOf,
  eraseEvents,
  nextLook,
  Sweeper,
  searchLate,
  withdrawEvents,
  withdrawLetters,
} from '@kith/service';
import type { EventSearch } from '@kith/store';
import type { AppContext } from './app.ts';
import { changeFeed } from './change-feed.ts';
import type { Owner } from './feed.ts';
import { blanked, blankedEvent, isInitiatedBy } from './initiator.ts';
import { eventsOf, eventsTelling } from './store/place.ts';

const everyMs = 1_000;
/** If a process dies while it erases a user, another process takes over after this time. */
const claimMs = 10_000;
const looks = {
  firstMs: 5_000,
  /** Work that began before an account's end may store data of the user for this long after the end, in ms. */
  lateMs: 10 * 60_000,
};
const batch = 100;

/** Erases the data of users whose accounts have ended, in the background, until nothing is left (spec#users-erasure). */
export function startEraser(app: AppContext, options: { log: Logger }): { stop(): Promise<void> } {
  let stopped = false;
  const sweeper = new Sweeper(() => eraseDue(app, { isStopped: () => stopped }), {
    everyMs,
    log: options.log,
  });
  return {
    stop() {
      stopped = true;
      return sweeper.stop();
    },
  };
}

/** Erases the data of all users whose erasure is due now. */
export function eraseDue(
  app: AppContext,
  { clock, isStopped = () => false }: { clock?: () => number; isStopped?: () => boolean } = {},
): Promise<void> {
  const { erasure } = app.store;
  return erasure.eachDue(
    async ({ endedAt, ...user }, now) => {
      await erasure.lookAgain(user, now + claimMs);
      const isDone = await eraseUser(app, user, isStopped);
      if (isStopped()) return;
      await erasure.lookAgain(user, isDone ? nextLook(endedAt, now, looks) : now + everyMs);
    },
    { clock, isStopped },
  );
}

/**
 * Erases the data of a user. Resolves to `false` if some data cannot be erased yet, for example because an event is not
 * published yet.
 */
async function eraseUser(app: AppContext, user: Owner, isStopped: () => boolean): Promise<boolean> {
  const { erasure } = app.store;
  await blankSnapshots(app, user, isStopped);
  await searchLate(app.store.outbox, eventsTelling(user), (search) =>
    blankEvents(app, user, search, isStopped),
  );
  if (isStopped()) return false;
  const parts = { bus: app.bus, outbox: app.store.outbox };
  await eraseEvents(parts, eventsOf(user));
  await eraseEvents(parts, auditEventsOf(user));
  await app.store.settings.erase(user);
  await app.store.replies?.forget(user);
  // Removes the feed before its entries, because no process adds entries to a feed that does not exist. The only exception is a
  // process that was adding an entry and was paused by the system meanwhile. The eraser finds this entry when it looks again.
  const isDone = await erasure.removeFeed(user);
  if (!isDone) app.relay.kick();
  while ((await erasure.removeEntries(user, batch)) === batch) {
    if (isStopped()) return false;
    await nextTurn();
  }
  return isDone;
}

/**
 * Removes the data of a user from other users' notifications. Each notification is changed together with its feed, as usual,
 * but the counts of the feed stay the same.
 */
async function blankSnapshots(app: AppContext, user: Owner, isStopped: () => boolean): Promise<void> {
  for (let hasMore = true; hasMore && !isStopped(); ) {
    const entries = await app.store.erasure.tellingOf(user, batch);
    let blankedCount = 0;
    for (const [userId, own] of Map.groupBy(entries, (entry) => entry.userId)) {
      const owner = { projectId: user.projectId, userId };
      blankedCount += await changeFeed(app, owner, async (feed) => {
        // If the entry's feed does not exist, the owner of the feed is being erased, too.
        if (!feed.read) return { result: 0 };
        const ids = own.map(({ id }) => id);
        const put = (await app.store.find(owner, ids))
          .filter((entry) => isInitiatedBy(entry, user.userId))
          .map((entry) => ({ ...entry, metadata: blanked(entry.metadata) }));
        return put.length === 0 ? { result: 0 } : { change: { feed, put }, result: put.length };
      });
    }
    hasMore = entries.length === batch && blankedCount > 0;
    await nextTurn();
  }
}

/**
 * Removes the data of a user from published events of other users' feeds. On the bus, these events are replaced by events
 * without the data, so that there is no gap in the sequence of any feed. Events of an application's notifications stay as they
 * are, even if their `metadata` contains the id of the user.
 */
async function blankEvents(
  { bus, store }: AppContext,
  user: Owner,
  range: EventSearch,
  isStopped: () => boolean,
): Promise<void> {
  for (let from = range.from; !isStopped(); ) {
    const found = await store.outbox.published({ ...range, from }, batch);
    const told = found.flatMap((one) => {
      const blank = blankedEvent(one.event, user.userId);
      return blank ? [{ ...one, blank }] : [];
    });
    await withdrawEvents(bus, told);
    for (const { key, blank } of told) {
      const body = new TextEncoder().encode(JSON.stringify(blank));
      const subject = eventSubject(bus.prefix, blank);
      const position = await bus.publish({ subject, id: replayedId(blank.id), body });
      await store.outbox.amend(key, blank, position);
    }
    const last = found.at(-1);
    if (!last || found.length < batch) break;
    from = last.key;
    await nextTurn();
  }
  // The outbox no longer contains events that are older than a week, so the loop above does not find them. If there are dead
  // letters of such events, the dead letters are removed.
  await withdrawLetters(bus, range, (event) => blankedEvent(event, user.userId) !== null);
}
