import { isMongoDuplicate, notGone, type Settler } from '@kith/service';
import type { Collection, Db, IndexDescription } from 'mongodb';
import type { Entry, Owner } from '../feed.ts';
import type { EndedUser, ErasureStore } from './index.ts';
import type { FeedDocument } from './mongo.ts';
import { type EntryDocument, entryOf } from './mongo-entries.ts';
import { endOf, eventsOf, eventsTelling, feedKey } from './place.ts';

interface EndedDocument extends Owner {
  _id: string;
  endedAt: Date;
  lookAt: Date;
}
interface EventDocument {
  _id: string;
  event: string;
  unpublished?: true;
}

/** Indexes of `endedUsers`. */
export const endedIndexes: readonly IndexDescription[] = [{ name: 'look', key: { lookAt: 1 } }];

/** Erases users on MongoDB. */
export class MongoErasure implements ErasureStore {
  readonly #settler: Settler;
  readonly #ended: Collection<EndedDocument>;
  readonly #feeds: Collection<FeedDocument>;
  readonly #entries: Collection<EntryDocument>;
  readonly #events: Collection<EventDocument>;

  constructor(db: Db, settler: Settler) {
    this.#settler = settler;
    this.#ended = db.collection('endedUsers');
    this.#feeds = db.collection('feeds');
    this.#entries = db.collection('entries');
    this.#events = db.collection('events');
  }

  async mark({ projectId, userId }: Owner, endedAt: number): Promise<void> {
    const at = new Date(endedAt);
    const _id = feedKey({ projectId, userId });
    try {
      await this.#ended.insertOne({ _id, projectId, userId, endedAt: at, lookAt: at });
    } catch (error) {
      if (!isMongoDuplicate(error)) throw error;
    }
  }

  async due(now: number, limit: number): Promise<EndedUser[]> {
    const found = await this.#ended
      .find({ lookAt: { $lte: new Date(now) } }, { sort: { lookAt: 1 }, limit })
      .toArray();
    return found.map(({ projectId, userId, endedAt }) => ({ projectId, userId, endedAt: endedAt.getTime() }));
  }

  async lookAgain(user: Owner, at: number | null): Promise<void> {
    const _id = feedKey(user);
    if (at === null) await this.#ended.deleteOne({ _id });
    else await this.#ended.updateOne({ _id }, { $set: { lookAt: new Date(at) } });
  }

  async tellingOf({ projectId, userId }: Owner, limit: number): Promise<Entry[]> {
    const filter = { 'metadata.initiatorId': userId, projectId, ...notGone };
    return (await this.#entries.find(filter, { limit }).toArray()).map(entryOf);
  }

  async removeEntries(user: Owner, limit: number): Promise<number> {
    const range = { $gt: feedKey(user), $lt: endOf(user) };
    // Marks of those that were taken away, too: their key names the user.
    const some = await this.#entries
      .find({ _id: range }, { projection: { _id: 1 }, sort: { _id: 1 }, limit })
      .toArray();
    if (some.length > 0) await this.#entries.deleteMany({ _id: { $in: some.map(({ _id }) => _id) } });
    return some.length;
  }

  async removeFeed(user: Owner): Promise<boolean> {
    const _id = feedKey(user);
    const feed = await this.#feeds.findOne({ _id });
    if (feed) {
      await this.#settler.settleTarget('feeds', feed);
      // What is in the outbox goes out first: an event is out if its change was stored.
      const idle = { unsettled: { $exists: false }, outboxAt: { $exists: false } } as const;
      const { deletedCount } = await this.#feeds.deleteOne({ _id, rev: feed.rev, ...idle });
      if (deletedCount === 0) return false;
    }
    const { from, to } = eventsOf(user);
    const others = eventsTelling(user);
    const left = await Promise.all([
      this.#events.findOne({ _id: { $gt: from, $lt: to } }, { projection: { _id: 1 } }),
      this.#events.findOne({
        _id: { $gt: others.from, $lt: others.to },
        unpublished: { $exists: true },
        event: { $regex: others.telling },
      }),
    ]);
    return left.every((one) => one === null);
  }
}
