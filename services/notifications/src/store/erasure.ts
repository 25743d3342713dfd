import { EndedUsers } from '@kith/service';
import type { Documents } from '@kith/store';
import type { Entry, Owner } from '../feed.ts';
import { entries, feeds } from './collections.ts';
import { entryOf } from './entry.ts';
import { endOf, eventsOf, eventsTelling, feedKey } from './place.ts';

/** Erases users whose accounts have ended (spec#users-erasure). Each step can be taken again and again. */
export class Erasure extends EndedUsers {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    super(documents);
    this.#documents = documents;
  }

  /** Some of others' entries that tell of a user. */
  async tellingOf({ projectId, userId }: Owner, limit: number): Promise<Entry[]> {
    const range = { above: `${projectId}|${userId}`, below: `${projectId}|${userId}}`, limit };
    return (await this.#documents.range(entries, range, 'initiator')).map(entryOf);
  }

  /** Removes some of a user's own entries, without regard to the feed, which goes as well. Returns how many. */
  removeEntries(user: Owner, limit: number): Promise<number> {
    return this.#documents.clear(entries, { above: feedKey(user), below: endOf(user), limit });
  }

  /** Removes a user's feed; `false` while there are events of it, or events unpublished that tell of the user. */
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
