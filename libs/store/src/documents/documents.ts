import type { EventEnvelope } from '@kith/contracts';
import type { Outbox } from '../outbox/outbox.ts';
import type { AnyCollection, Collection, Counters } from './collection.ts';
import type { Reply } from './reply-collection.ts';

declare const version: unique symbol;

/** A document as it was read. Which version of it that was is known to the store alone. */
export interface Stored<D> {
  readonly id: string;
  readonly doc: D;
  readonly [version]?: never;
}

/** Ids, or keys of an index, between two texts, both exclusive. */
export interface Range {
  above: string;
  below: string;
  /** At most as many. */
  limit: number;
  /** How many of them are passed over first. */
  skip?: number;
  /** From the last one down. */
  backwards?: true;
  /** Ids, or keys, that are passed over and not counted by `skip`. */
  except?: readonly string[];
}

/** What to search a range for. */
export interface Search {
  text: string;
  fields: readonly string[];
  starts?: true;
  index?: string;
  /** Returns only matches after this id or key; the total still counts the whole range. Forward only. */
  after?: string;
  /** Stops at the limit and reports the number found as the total. */
  uncounted?: true;
}

/** What a change is refused for; nothing of it is stored then. */
export type Refusal =
  /** The target is not any more as it was read. */
  | 'changed'
  /** A new target's id is taken. */
  | 'there'
  /** What it has to be below is not there. */
  | 'orphan'
  /** The key of a unique index that another document has. */
  | { taken: string };

/**
 * One document decides: compared and set. Rows, counters and events follow from it; all of it is stored or nothing, and nothing
 * of it is seen without the rest.
 */
export interface Change<D> {
  in: Collection<D>;
  /** The document as it was read, or the id of a new one. */
  target: Stored<D> | string;
  /** What it is to be; `null` is nothing any more. */
  set: D | null;
  /** Documents of the same collection that have to be there, by keys of an index. */
  below?: { index: string; keys: readonly string[] };
  /** `put: null` takes a row away. */
  rows?: readonly { in: AnyCollection; id: string; put: unknown }[];
  counters?: readonly { in: Counters; id: string; add: Readonly<Record<string, number>> }[];
  events?: readonly EventEnvelope[];
}

// biome-ignore lint/suspicious/noExplicitAny: as `AnyCollection`.
export type AnyChange = Change<any>;

/** A copy of what another service owns. `mark` is the last word: nothing comes after it. */
export interface Copy<D> {
  id: string;
  doc: D;
  epoch: number;
  version: number | 'mark';
}

/** A request under way: only its holder may keep an answer under the id. */
export interface Claim {
  id: string;
  token: string;
}

/** What became of changes that were to be stored with their answer. */
export type Kept =
  | 'made'
  /** Another request has taken the claim over; nothing is stored. */
  | 'lost'
  /** The change at this position was refused; nothing is stored. */
  | { at: number; refusal: Refusal };

/** Answers to requests with a key. Each is stored with the change that it tells of, or not at all (docs/adr/0046). */
export interface Replies {
  /**
   * Begins a request, unless it was answered already (`Reply`) or is still running. A claim whose holder has not finished within
   * `forMs` can be taken over: its change, if it was not stored by then, never will be.
   */
  begin(id: string, forMs: number): Promise<Claim | Reply | 'running'>;
  /**
   * Makes the changes of a request and keeps its answer. The first change decides, and is one write with the answer. The others
   * are what the first needs, so they are made before it; new targets among them are erased when it is refused.
   */
  keep(changes: readonly AnyChange[], claim: Claim, reply: Reply): Promise<Kept>;
  /** Ends a request that has kept no answer. Does nothing for one that has, or while its change may still be stored. */
  release(claim: Claim): Promise<void>;
  /** Deletes the answers of a user for good. */
  forget(user: { projectId: string; userId: string }): Promise<void>;
}

/**
 * A service's database, in its own terms: collections, and changes that one document decides (docs/adr/0037). No query
 * language, id or error of an engine crosses it.
 */
export interface Documents {
  readonly outbox: Outbox;
  /** Answers to requests with a key, where `replyCollection` is declared. */
  readonly replies: Replies | undefined;
  /** Documents by id; what is not there is left out. `settled`: what is read afterwards shows all that follows from them. */
  get<D>(
    of: Collection<D>,
    ids: readonly string[],
    how?: { settled?: boolean },
  ): Promise<Map<string, Stored<D>>>;
  /** Documents by a key of an index, each key's in the order of their ids. */
  by<D>(of: Collection<D>, index: string, keys: readonly string[]): Promise<Map<string, Stored<D>[]>>;
  /** The texts that documents are searched by, by id: there is less to read of them than of the documents. */
  texts<F extends string>(
    of: AnyCollection,
    ids: readonly string[],
    fields: readonly F[],
  ): Promise<Map<string, Record<F, string>>>;
  /** The ids of documents that have these keys of an index: there is less to read of them than of the documents. */
  idsBy(of: AnyCollection, index: string, keys: readonly string[]): Promise<Map<string, string[]>>;
  /** Settles one target, or all of a range of ids: later reads show everything that follows from their changes. */
  settle<D>(of: Collection<D>, which: Stored<D> | Pick<Range, 'above' | 'below'>): Promise<void>;
  /** What counters stand at, for every id that is asked. */
  sums<F extends string>(of: Counters<F>, ids: readonly string[]): Promise<Map<string, Record<F, number>>>;
  /** A range of ids, or of keys of an index, in their order; those of one key by their ids. Keys that are to be walked differ. */
  range<D>(of: Collection<D>, range: Range, index?: string): Promise<Stored<D>[]>;
  /** A range, and the total that counts its rows, both as of one moment. */
  page<D>(
    of: Collection<D>,
    range: Range,
    total: { in: Counters; id: string; field: string },
  ): Promise<{ rows: Stored<D>[]; total: number }>;
  /** How many there are in a range. Walks them: for lists of operators, and of one user's few. */
  count(of: AnyCollection, range: Omit<Range, 'limit' | 'skip'>, index?: string): Promise<number>;
  /** Those of a range that have a text in one of these fields, or begin with it; with how many there are. Walks the range. */
  search<D>(of: Collection<D>, range: Range, how: Search): Promise<{ found: Stored<D>[]; total: number }>;
  /**
   * Makes changes, each for itself and in their order, in few trips; tells of each what became of it. Rejects with nothing
   * made of the one it rejects for, and may have made others: what is tried again is read again. Changes of a request with a key are
   * held until its answer is known, and no read sees them before (`HeldChanges`).
   */
  change(changes: readonly AnyChange[]): Promise<('made' | Refusal)[]>;
  /** Keeps copies: a higher epoch wins, then a higher version; a mark wins over both. What comes at the same time is one write. */
  keep<D>(of: Collection<D>, copies: readonly Copy<D>[]): Promise<void>;
  /**
   * Takes some of a range of rows, copies or counters away for good, without a change, and what is remembered of those that went before;
   * tells how many. Counters that changes are about to add to stay. Throws `TypeError` for targets.
   */
  clear(of: AnyCollection | Counters, range: Omit<Range, 'skip' | 'backwards' | 'except'>): Promise<number>;
  /**
   * Reads at most `limit` targets that have one of these keys, settled and in no order, and fences off the writers that are creating
   * more of them: they check `below` again before they commit. Once what is above is deleted and nothing remains, nothing ever will.
   */
  remaining<D>(
    of: Collection<D>,
    index: string,
    keys: readonly string[],
    limit: number,
  ): Promise<Stored<D>[]>;
  /**
   * Removes at most `limit` rows from ranges of ids, without a change, and returns how many. Unlike after `clear`, a delayed writer
   * cannot bring them back. For settled targets that are about to be erased.
   */
  clearRows(
    of: AnyCollection,
    ranges: readonly Pick<Range, 'above' | 'below'>[],
    limit: number,
  ): Promise<number>;
  /** Erases the settled targets that are still as they were read and have no unpublished events. Returns how many. */
  eraseAll<D>(of: Collection<D>, targets: readonly Stored<D>[]): Promise<number>;
  /**
   * Takes a target away for good and without a change, with all that is remembered of it: what is left of somebody whose account has
   * ended. Given as an id it is whatever is there, or was. `false` where it is not any more as it was read, or its events and what
   * follows from it are still on their way.
   */
  erase<D>(of: Collection<D>, target: Stored<D> | string): Promise<boolean>;
  /** Deletes rows or copies by id for good, as `clear` does. Throws `TypeError` for targets. */
  clearIds(of: AnyCollection, ids: readonly string[]): Promise<void>;
  /**
   * Tells whether the last change of a target is at most `ms` old and was made before the target was read. Uses the database's clock,
   * because replicas' clocks differ. Creating a target does not count as a change. The collection must be `dated`.
   */
  changedWithin<D>(of: Collection<D>, target: Stored<D>, ms: number): Promise<boolean>;
  /** Takes away what has expired, and puts right what processes left behind when they died. */
  sweep(): Promise<void>;
  /** Rejects when the database cannot be used. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Holds changes against what their collections describe, so that what is wrong is told before anything is written. */
export function checkedChanges(changes: readonly AnyChange[]) {
  const checked = (of: AnyCollection, doc: unknown) => (doc === null ? null : of.schema.parse(doc));
  const loud = changes.find((one) => one.in.silent && (one.events?.length ?? 0) > 0);
  if (loud) throw new TypeError(`${loud.in.name} is silent: its changes carry no events.`);
  return changes.map((one) => ({
    ...one,
    set: checked(one.in, one.set),
    rows: (one.rows ?? []).map((row) => ({ ...row, put: checked(row.in, row.put) })),
  }));
}

/** What each key has, in order, from pairs of both. */
export function gathered<T>(pairs: readonly (readonly [key: string, one: T])[]): Map<string, T[]> {
  const byKey = new Map<string, T[]>();
  for (const [key, one] of pairs) {
    const some = byKey.get(key);
    if (some) some.push(one);
    else byKey.set(key, [one]);
  }
  return byKey;
}

/** Where a copy stands among others of its id: a mark is above all. */
export function standingOf({ epoch, version }: Pick<Copy<unknown>, 'epoch' | 'version'>): {
  epoch: number;
  newest: number;
} {
  if (version !== 'mark') return { epoch, newest: version };
  return { epoch: Number.MAX_SAFE_INTEGER, newest: Number.MAX_SAFE_INTEGER };
}

/** The total of a search where what was found tells it, so that the range is not walked again; else `undefined`. */
export function knownTotal(
  { above, limit, skip = 0 }: Range,
  found: number,
  { after = above, uncounted }: Pick<Search, 'after' | 'uncounted'>,
): number | undefined {
  if (uncounted) return found;
  const isEnd = found < limit && (found > 0 || skip === 0);
  return isEnd && after === above ? skip + found : undefined;
}

/** Throws `TypeError` for targets: what follows from them would stay. */
export function refuseTargets(of: AnyCollection | Counters): void {
  if ('kind' in of && of.kind === 'target') {
    throw new TypeError(`${of.name} are targets: a change takes them away.`);
  }
}

/** The version of a database in which documents are; before it each service had a layout of its own. */
export const oldestLayout = 100;
