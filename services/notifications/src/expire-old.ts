import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AppContext } from './app.ts';
import { changeFeed } from './change-feed.ts';
import { expire } from './feed.ts';
import { feedKey } from './store/place.ts';

/** Maximum number of notifications that one round reads. */
const batch = 100;

/**
 * Removes expired notifications. The database cannot remove them by itself, because each removal also changes the feed: its
 * total, its unread count, and `expiredTo`. By `expiredTo`, a stream knows whether it can still resume.
 */
export async function expireOld(app: AppContext, isStopped = () => false): Promise<void> {
  for (;;) {
    const found = await app.store.expired(app.now(), batch);
    if (found.length === 0) return;
    for (const own of Map.groupBy(found, feedKey).values()) {
      if (isStopped()) return;
      const [{ projectId, userId }] = own as [(typeof own)[number]];
      const owner = { projectId, userId };
      const isErased = await changeFeed(app, owner, async (before) => {
        // If there is no feed, the user is being erased, and no new feed may be made.
        if (!before.read) return { result: true };
        // Reads the notifications again, as some of them may have been removed since.
        const old = await app.store.find(
          owner,
          own.map(({ id }) => id),
        );
        if (old.length === 0) return { result: false };
        return { change: { feed: expire(before, old), remove: old }, result: false };
      });
      if (isErased) await app.store.erasure.removeEntries(owner, batch);
      // In the embedded form, the calls above do not let other work run, so no request would be handled until the end.
      await nextTurn();
    }
  }
}
