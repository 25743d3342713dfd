import type { AppContext } from './app.ts';
import type { Owner } from './feed.ts';
import type { FeedChange, StoredFeed } from './store/index.ts';
import { feedKey } from './store/place.ts';

/** What is to be done with a feed as it stands, if anything, and what to tell then. */
export interface Decision<T> {
  change?: FeedChange;
  result: T;
}

/** Lost races a change bears: each one means that another process has got something done. */
const attempts = 50;

/**
 * Changes a user's feed: reads it, decides, stores, and does so again when somebody was faster. What `decide` reads
 * beside the feed is read after it, so that a change that came between makes it decide anew.
 */
export async function changeFeed<T>(
  app: AppContext,
  owner: Owner,
  decide: (feed: StoredFeed) => Promise<Decision<T>> | Decision<T>,
): Promise<T> {
  const attempt = async (): Promise<{ result: T } | undefined> => {
    const feed = await app.store.feed(owner);
    const { change, result } = await decide(feed);
    if (change && !(await app.store.change(feed, change))) return undefined;
    if (change?.event) app.relay.kick();
    return { result };
  };
  const first = await attempt();
  if (first) return first.result;
  // Only those who have lost take turns: while the database is away, nobody is to wait for others' failures.
  return app.turns.run([feedKey(owner)], async () => {
    for (let lost = 1; lost < attempts; lost++) {
      const done = await attempt();
      if (done) return done.result;
    }
    throw new Error(`The feed went on ${attempts} times while it was to be changed.`);
  });
}
