import type { EventEnvelope } from '@kith/contracts';
import type { Outbox, ProfileCopy, StoreConfig } from '@kith/service';
import type { LivePair } from '../act.ts';
import type { Entry, ListName, Totals } from '../listing.ts';
import type { Pair } from '../pair.ts';
import type { SearchKeys } from '../search-keys.ts';
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

/** The own copy of public users, with what they are found by. */
export interface SearchableProfiles extends ProfileCopy {
  /** What these users are found by, for those there is a profile of. */
  searchKeys(projectId: string, userIds: readonly string[]): Promise<Map<string, SearchKeys>>;
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
   * Removes a pair that nothing follows from. `false` while there are events of it but the last, or that is on its way,
   * or when the pair has gone on.
   */
  removePair(pair: Pair): Promise<boolean>;
  /** Removes the totals of a user who has no pairs. */
  removeTotals(of: UserKey): Promise<void>;
}

/** What became of a pair that was to be imported; a pair is what is stored where its connection is there already. */
export type ImportOutcome = 'stored' | 'pair-taken' | 'id-taken' | Pair;

/** What connections keeps. Two implementations pass one suite, `tests/store.test.ts`. */
export interface ConnectionStore {
  /** The events of pairs. */
  readonly outbox: Outbox;
  readonly profiles: SearchableProfiles;
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
  /**
   * Stores pairs of another back end, one after the other, with what follows of them in lists and totals, and without
   * events. Tells of each, in their order, what became of it; what is stored already stays as it is. Of those that come
   * at once with one connection's id, one gets it.
   */
  import(projectId: string, pairs: readonly LivePair[]): Promise<ImportOutcome[]>;
  /** The pairs of a user and each of these others that are stored. */
  pairsWith(projectId: string, userId: string, otherIds: readonly string[]): Promise<Pair[]>;
  /** Pairs of all projects in which one blocks the other, by `<project>|<lower>|<higher>`, after that of a pair. */
  blocked(after: string, limit: number): Promise<Pair[]>;
  /**
   * Pairs of a user whose request was declined, by the other user's id, after that of one. A declined request stands in
   * no list: it costs a read of the user's pairs.
   */
  declined(
    of: { projectId: string; userId: string },
    range: { after: string; limit: number },
  ): Promise<Pair[]>;
  list(range: ListRange): Promise<ListPage>;
  /** How many rows each list of a user has. */
  totals(projectId: string, userId: string): Promise<Totals>;
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
