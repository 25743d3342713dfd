import type { EventEnvelope, PublicUser } from '@kith/contracts';
import type { Outbox, StoreConfig } from '@kith/service';
import type { Entry, ListName, Totals } from '../listing.ts';
import type { Pair } from '../pair.ts';
import { openMongoStore } from './mongo.ts';
import { openSqliteStore } from './sqlite.ts';

/** Which rows of a list are asked for: those after `skip` others, or after the row at a place. */
export interface ListRange {
  projectId: string;
  ownerId: string;
  list: ListName;
  from: { skip: number } | { after: string };
  /** At most as many rows. */
  limit: number;
  /** Keys of rows of this list that are passed over, and not counted in the total. */
  without?: readonly string[];
}

/** Rows of a list, in its order; the total counts all that can be listed, on any page. */
export interface ListPage {
  entries: Entry[];
  total: number;
}

/** A user's public profile with the `seq` of the event that brought it. */
export interface Profile {
  seq: number;
  user: PublicUser;
}

/** What a user is found by, folded; empty where the user has none. */
export interface SearchKeys {
  username: string;
  name: string;
}

/** A user whose account has ended; `endedAt` is when this service heard of it. */
export interface EndedUser {
  projectId: string;
  userId: string;
  endedAt: Date;
}

type UserKey = Pick<EndedUser, 'projectId' | 'userId'>;

/** What it takes to erase a user whose account has ended (SPEC B2). */
export interface ErasureStore {
  /**
   * Puts a mark in the place of a profile, and has the rest erased from now on. The mark keeps late events from bringing
   * the profile back, and goes when none can come any more. Repeatable.
   */
  end(of: EndedUser & { seq: number }): Promise<void>;
  /** Those whose rest is to be erased now. */
  due(now: Date, limit: number): Promise<EndedUser[]>;
  /** Sets when to look for something left next; `null` is never. */
  lookAgain(of: UserKey, at: Date | null): Promise<void>;
  /** Everybody a pair with a user is stored of. */
  partners(of: UserKey): Promise<string[]>;
  /**
   * Removes a pair that nothing follows from, with its published events but the last. `false` while an event of it is on
   * its way, or when the pair has gone on.
   */
  removePair(pair: Pair): Promise<boolean>;
  /** Removes the totals of a user who has no pairs. */
  removeTotals(of: UserKey): Promise<void>;
}

/** What connections keeps. Two implementations pass one suite, `tests/store.test.ts`. */
export interface ConnectionStore {
  /** The events of pairs. */
  readonly outbox: Outbox;
  readonly erasure: ErasureStore;
  /** Where two users stand; state `none` where nothing is stored. */
  pairOf(projectId: string, one: string, other: string): Promise<Pair>;
  /** The pair whose present life has this id. */
  pairByConnection(projectId: string, connectionId: string): Promise<Pair | null>;
  /**
   * Stores a pair with the event of its change, and what follows of it in lists and totals. `false` when the pair
   * has gone on since `before` was read.
   */
  change(before: Pair, after: Pair, event: EventEnvelope): Promise<boolean>;
  /** The pairs of a user and each of these others that are stored. */
  pairsWith(projectId: string, userId: string, otherIds: readonly string[]): Promise<Pair[]>;
  /** Pairs of all projects in which one blocks the other, by `<project>|<lower>|<higher>`, after that of a pair. */
  blocked(after: string, limit: number): Promise<Pair[]>;
  list(range: ListRange): Promise<ListPage>;
  /** How many rows each list of a user has. */
  totals(projectId: string, userId: string): Promise<Totals>;
  /** The profiles there are of these users, by id. */
  profiles(projectId: string, userIds: readonly string[]): Promise<Map<string, PublicUser>>;
  /** What these users are found by, for those there is a profile of. */
  searchKeys(projectId: string, userIds: readonly string[]): Promise<Map<string, SearchKeys>>;
  /** Keeps a profile, unless the one that is held is as new or newer. */
  keepProfile(profile: Profile): Promise<void>;
  /** Puts right what processes left behind when they died. */
  sweep(): Promise<void>;
  /** Rejects when the database can not be used. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the store and brings its schema up to date. Throws `StartError`. */
export async function openStore(config: StoreConfig): Promise<ConnectionStore> {
  return config.kind === 'mongo' ? openMongoStore(config) : openSqliteStore(config);
}
