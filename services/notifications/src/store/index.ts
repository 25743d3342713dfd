import type { EventEnvelope } from '@kith/contracts';
import type { Outbox, ProfileStore, StoreConfig } from '@kith/service';
import type { Entry, Feed, Owner } from '../feed.ts';
import { openMongoStore } from './mongo.ts';
import { openSqliteStore } from './sqlite.ts';

/** A feed as it was read; all its notifications up to `seq` are there to be read. */
export interface StoredFeed extends Feed {
  owner: Owner;
  /** Goes up with every change: what a change compares before it sets. */
  rev: number;
}

/** What becomes of a feed in one change. */
export interface FeedChange {
  feed: Feed;
  /** Entries that are new or have changed. */
  put?: readonly Entry[];
  remove?: readonly Entry[];
  event?: EventEnvelope;
}

/** A user whose account has ended, and what is held of it may not all be erased yet. */
export interface EndedUser extends Owner {
  /** Unix ms. */
  endedAt: number;
}

/** Erases users whose accounts have ended (SPEC B2). Each step can be taken again and again. */
export interface ErasureStore {
  /** Marks a user as one to erase; who is marked already stays as it is. */
  mark(user: Owner, endedAt: number): Promise<void>;
  /** Some of those who are to be looked for by `now` (Unix ms), who waits longest first. */
  due(now: number, limit: number): Promise<EndedUser[]>;
  /** Sets when a user is looked for again (Unix ms); `null` takes the mark away. */
  lookAgain(user: Owner, at: number | null): Promise<void>;
  /** Some of others' entries that tell of a user. */
  tellingOf(user: Owner, limit: number): Promise<Entry[]>;
  /** Removes some of a user's own entries, without regard to the feed, which goes as well. Returns how many. */
  removeEntries(user: Owner, limit: number): Promise<number>;
  /** Removes a user's feed; `false` while there are events of it, or events unpublished that tell of the user. */
  removeFeed(user: Owner): Promise<boolean>;
}

/** What notifications keeps. Two implementations pass one suite, `tests/store.test.ts`. */
export interface NotificationStore {
  readonly outbox: Outbox;
  /** The own copy of public users. */
  readonly profiles: ProfileStore;
  readonly erasure: ErasureStore;
  /** A user's feed; an empty one where nothing is stored. */
  feed(owner: Owner): Promise<StoredFeed>;
  /** Stores a change whole, or gives `false` when the feed has gone on since it was read. */
  change(before: StoredFeed, change: FeedChange): Promise<boolean>;
  /** A notification of this owner's; anyone else's is none. */
  find(owner: Owner, id: string): Promise<Entry | null>;
  /** The notification of a connection request. */
  requestOf(owner: Owner, connectionId: string): Promise<Entry | null>;
  /** Entries with a sequence of at most `upTo`, newest first. */
  newest(owner: Owner, range: { upTo: number; skip: number; limit: number }): Promise<Entry[]>;
  /** Entries that follow `after`, up to `upTo`, oldest first. */
  following(owner: Owner, range: { after: number; upTo: number; limit: number }): Promise<Entry[]>;
  /** Some of those who have notifications that are not kept beyond `now` (Unix ms). */
  ownersOfExpired(now: number): Promise<Owner[]>;
  /** Some of a user's notifications that are not kept beyond `now`. */
  expired(owner: Owner, now: number): Promise<Entry[]>;
  /** Remembers until `until` (Unix ms) that a connection's request is none any more. */
  withdraw(projectId: string, connectionId: string, until: number): Promise<void>;
  isWithdrawn(projectId: string, connectionId: string): Promise<boolean>;
  /** Puts right what processes left behind when they died, and forgets what may be forgotten. */
  sweep(): Promise<void>;
  /** Rejects when the store can not be used. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the store of the configured kind and brings its schema up to date. Throws `StartError`. */
export function openStore(config: StoreConfig): Promise<NotificationStore> {
  return config.kind === 'mongo' ? openMongoStore(config) : openSqliteStore(config);
}
