import type { AppContext } from './app.ts';
import { changeFeed } from './change-feed.ts';
import { expire } from './feed.ts';
import { feedKey } from './store/place.ts';

/** Notifications that are looked at in one round. */
const batch = 100;

/**
 * Takes away what is older than it is kept. A change of the feed like any other, and not an expiry of the database's
 * own: totals and the unread count go with the rows, and streams learn how far back the feed reaches.
 */
export async function expireOld(app: AppContext): Promise<void> {
  for (;;) {
    const found = await app.store.expired(app.now(), batch);
    if (found.length === 0) return;
    for (const own of Map.groupBy(found, feedKey).values()) {
      const [{ projectId, userId }] = own as [(typeof own)[number]];
      const owner = { projectId, userId };
      await changeFeed(app, owner, async (before) => {
        // Again: some of it may have been taken away since.
        const old = await app.store.find(
          owner,
          own.map(({ id }) => id),
        );
        if (old.length === 0) return { result: undefined };
        return { change: { feed: expire(before, old), remove: old }, result: undefined };
      });
    }
  }
}
