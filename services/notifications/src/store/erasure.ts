import { EndedUsers } from '@kith/service';
import type { Documents } from '@kith/store';
import type { Entry, Owner } from '../feed.ts';
import { entries, feeds } from './collections.ts';
import { entryOf } from './entry.ts';
import { endOf, eventsOf, eventsTelling, feedKey } from './place.ts';

/** Erases users whose accounts have ended (spec#users-erasure). Each step can be repeated. */
export class Erasure extends EndedUsers {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    super(documents);
    this.#documents = documents;
  }

  /** Some of the entries in other users' feeds that name a user as the initiator. */
  async tellingOf({ projectId, userId }: Owner, limit: number): Promise<Entry[]> {
    const range = { above: `${projectId}|${userId}`, below: `${projectId}|${userId}}`, limit };
    return (await this.#documents.range(entries, range, 'initiator')).map(entryOf);
  }

  /**
   * Removes some of a user's own entries, and returns how many. Does not update the feed's counts, because the feed is erased,
   * too.
   */
  removeEntries(user: Owner, limit: number): Promise<number> {
    return this.#documents.clear(entries, { above: feedKey(user), below: endOf(user), limit });
  }

  /**
   * Removes a user's feed. Resolves to `false` as long as a change of the feed is not complete. Also resolves to `false` while
   * the outbox holds events of the feed, or unpublished events that name the user.
   */
  async removeFeed(user: Owner): Promise<boolean> {
    const { outbox } = this.#documents;
    if (!(await this.#documents.erase(feeds, feedKey(user)))) return false;
    const held = await Promise.all([
      outbox.holds(eventsOf(user)),
      outbox.holds(eventsTelling(user), { unpublished: true }),
    ]);
    return !held.includes(true);
  }
}
