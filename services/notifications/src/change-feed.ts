import { untilMade } from '@kith/base';
import type { AppContext } from './app.ts';
import type { Owner } from './feed.ts';
import type { FeedChange, StoredFeed } from './store/index.ts';
import { feedKey } from './store/place.ts';

/** How to change a feed, and what to return. If `change` is left out, the feed stays as it is. */
export interface Decision<T> {
  change?: FeedChange;
  result: T;
}

/**
 * Changes a user's feed: reads the feed, decides, and stores the change. If another change of the feed came first, tries again,
 * until the deadline (Unix ms). The feed is read before `decide` runs. So if the feed changes while `decide` reads other data,
 * the change is refused, and `decide` runs again with the new feed.
 */
export function changeFeed<T>(
  app: AppContext,
  owner: Owner,
  decide: (feed: StoredFeed) => Promise<Decision<T>> | Decision<T>,
  { deadline }: { deadline?: number } = {},
): Promise<T> {
  const attempt = async (): Promise<{ result: T } | undefined> => {
    const feed = await app.store.feed(owner);
    const { change, result } = await decide(feed);
    if (change && !(await app.store.change(feed, change))) return undefined;
    if (change?.event) app.relay.kick();
    return { result };
  };
  const inTurn = (work: () => Promise<T>, until: number) => app.turns.run([feedKey(owner)], work, { until });
  return untilMade(attempt, { deadline, inTurn });
}
