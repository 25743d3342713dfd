import {
  eventsIndexes,
  goneIndex,
  isMongoDuplicate,
  type MongoConnection,
  MongoOutbox,
  MongoProfiles,
  type MongoSchema,
  marksIndexes,
  openMongo,
  outboxIndex,
  type ProfileStore,
  profilesIndexes,
  Settler,
  type StoreConfig,
  type TargetFields,
  unsettledIndex,
} from '@kith/service';
import type { Collection } from 'mongodb';
import { type Entry, emptyFeed, type Feed, type Owner } from '../feed.ts';
import type { FeedChange, NotificationStore, StoredFeed } from './index.ts';
import { entryIndexes, MongoEntries, rowOf } from './mongo-entries.ts';
import { endedIndexes, MongoErasure } from './mongo-erasure.ts';
import { feedKey, placeOf } from './place.ts';

/** A feed as it is stored: the target of its changes. */
export type FeedDocument = Partial<Feed> & TargetFields;
interface WithdrawnDocument {
  _id: string;
  expireAt: Date;
}

const schema: MongoSchema = {
  version: 1,
  collections: {
    feeds: [unsettledIndex, outboxIndex],
    entries: [goneIndex, ...entryIndexes],
    withdrawn: [{ name: 'expire', key: { expireAt: 1 }, expireAfterSeconds: 0 }],
    profiles: profilesIndexes,
    endedUsers: endedIndexes,
    events: eventsIndexes,
    marks: marksIndexes,
  },
};

/** Opens the store on MongoDB (docs/adr/0005): a user's feed is the target of its changes, `entries` follow. */
export async function openMongoStore(config: StoreConfig & { kind: 'mongo' }): Promise<NotificationStore> {
  const { url, database } = config;
  return new MongoStore(await openMongo({ url, database, schema }));
}

class MongoStore implements NotificationStore {
  readonly outbox: MongoOutbox;
  readonly profiles: ProfileStore;
  readonly erasure: MongoErasure;
  readonly #connection: MongoConnection;
  readonly #settler: Settler;
  readonly #feeds: Collection<FeedDocument>;
  readonly #entries: MongoEntries;
  readonly #withdrawn: Collection<WithdrawnDocument>;
  /** What feeds were made of: before its next change a feed's outbox may have to be emptied. */
  readonly #read = new WeakMap<StoredFeed, FeedDocument>();

  constructor(connection: MongoConnection) {
    const { db } = connection;
    this.#connection = connection;
    this.#settler = new Settler(db);
    this.outbox = new MongoOutbox(db, ['feeds']);
    this.profiles = new MongoProfiles(db);
    this.erasure = new MongoErasure(db, this.#settler);
    this.#feeds = db.collection('feeds');
    this.#entries = new MongoEntries(db);
    this.#withdrawn = db.collection('withdrawn');
  }

  async feed(owner: Owner): Promise<StoredFeed> {
    const document = await this.#feeds.findOne({ _id: feedKey(owner) });
    if (!document) return { ...emptyFeed, owner, rev: 0 };
    // From here on what was read is whole; what comes later is of another `rev`.
    await this.#settler.settleTarget('feeds', document);
    const { seq = 0, total = 0, unread = 0, expiredTo = 0, marks = [], streams = [], rev } = document;
    const feed = { seq, total, unread, expiredTo, marks, streams, owner, rev };
    this.#read.set(feed, document);
    return feed;
  }

  async change(before: StoredFeed, change: FeedChange): Promise<boolean> {
    const { owner, rev } = before;
    const id = feedKey(owner);
    const read = this.#read.get(before);
    if (read) await this.outbox.makeRoom('feeds', read);
    else await this.#make(id);
    const { seq, total, unread, expiredTo, marks, streams } = change.feed;
    const inPlace = (entry: Entry) => ({ in: 'entries', id: placeOf(owner, entry.seq) });
    return this.#settler.change({
      target: { in: 'feeds', id, rev },
      set: { seq, total, unread, expiredTo, marks: [...marks], streams: [...streams] },
      events: change.event ? [change.event] : [],
      rows: [
        ...(change.remove ?? []).map((entry) => ({ ...inPlace(entry), put: null })),
        ...(change.put ?? []).map((entry) => ({ ...inPlace(entry), put: rowOf(entry) })),
      ],
      counters: [],
    });
  }

  find(owner: Owner, id: string): Promise<Entry | null> {
    return this.#entries.find(owner, { id });
  }

  requestOf(owner: Owner, connectionId: string): Promise<Entry | null> {
    return this.#entries.find(owner, { requestOf: connectionId });
  }

  newest(owner: Owner, range: { upTo: number; skip: number; limit: number }): Promise<Entry[]> {
    return this.#entries.newest(owner, range);
  }

  following(owner: Owner, range: { after: number; upTo: number; limit: number }): Promise<Entry[]> {
    return this.#entries.following(owner, range);
  }

  ownersOfExpired(now: number): Promise<Owner[]> {
    return this.#entries.ownersOfExpired(now);
  }

  expired(owner: Owner, now: number): Promise<Entry[]> {
    return this.#entries.expired(owner, now);
  }

  async withdraw(projectId: string, connectionId: string, until: number): Promise<void> {
    try {
      await this.#withdrawn.insertOne({ _id: `${projectId}|${connectionId}`, expireAt: new Date(until) });
    } catch (error) {
      if (!isMongoDuplicate(error)) throw error;
    }
  }

  async isWithdrawn(projectId: string, connectionId: string): Promise<boolean> {
    return (await this.#withdrawn.findOne({ _id: `${projectId}|${connectionId}` })) !== null;
  }

  sweep(): Promise<void> {
    return this.#settler.sweep({ targets: ['feeds'], counters: [] });
  }

  check(): Promise<void> {
    return this.#connection.check();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** Makes the document that changes are made in; of two that do so at once, either will do. */
  async #make(id: string): Promise<void> {
    try {
      await this.#feeds.insertOne({ _id: id, rev: 0 });
    } catch (error) {
      if (!isMongoDuplicate(error)) throw error;
    }
  }
}
