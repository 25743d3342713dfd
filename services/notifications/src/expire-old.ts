import type { AppContext } from './app.ts';
import { changeFeed } from './change-feed.ts';
import { expire } from './feed.ts';

/**
 * Takes away what is older than it is kept. A change of the feed like any other, and not an expiry of the database's
 * own: totals and the unread count go with the rows, and streams learn how far back the feed reaches.
 */
export async function expireOld(app: AppContext): Promise<void> {
  const now = app.now();
  for (;;) {
    const owners = await app.store.ownersOfExpired(now);
    if (owners.length === 0) return;
    for (const owner of owners) {
      await changeFeed(app, owner, async (before) => {
        const old = await app.store.expired(owner, now);
        if (old.length === 0) return { result: undefined };
        return { change: { feed: expire(before, old), remove: old }, result: undefined };
      });
    }
  }
}
