import type { EventEnvelope } from '@kith/contracts';
import type { Outbox } from '../outbox/outbox.ts';
import type { AnyCollection, Collection, Counters } from './collection.ts';
import type { Reply } from './reply-collection.ts';

declare const version: unique symbol;

/** A document as it was read. Only the store knows which version was read. */
export interface Stored<D> {
  readonly id: string;
  readonly doc: D;
  readonly [version]?: never;
}

/** A range of ids, or of keys of an index, between two texts. Both texts are outside the range. */
export interface Range {
  above: string;
  below: string;
  /** Maximum number of results. */
  limit: number;
  /** Number of results to skip first. */
  skip?: number;
  /** In descending order. */
  backwards?: true;
  /** Documents with these ids or keys are left out. `skip` does not count them. */
  except?: readonly string[];
}

/** The range of documents to count. With a limit, counts at most this many documents. */
export type Counted = Omit<Range, 'limit' | 'skip'> & Partial<Pick<Range, 'limit'>>;

/** A range of ids without a limit. */
export type IdRange = Pick<Range, 'above' | 'below'>;

/** What to search a range for. */
export interface Search {
  text: string;
  fields: readonly string[];
  starts?: true;
  index?: string;
  /** Returns only matches after this id or key, while the total still counts the whole range. Only for ascending order. */
  after?: string;
  /** If set, the search stops at the limit, and the total is the number of matches that were found. */
  uncounted?: true;
  /**
   * The number of documents that one call searches. Set this for long ranges. A search on SQLite blocks the process, so with
   * this option it stops after this many documents, and sets `next` in its result. On MongoDB, a search blocks nothing, so it
   * does not stop. Only for `uncounted` searches in ascending order.
   */
  atOnce?: number;
}

/**
 * What a search has found. `next` is set if the search stopped before the limit and before the end of the range. To continue,
 * pass it as `after`.
 */
export interface Found<D> {
  found: Stored<D>[];
  total: number;
  next?: string | undefined;
}

/** Why a change is refused. Nothing of a refused change is stored. */
export type Refusal =
  /** The target has changed since it was read. */
  | 'changed'
  /** A new target's id is taken. */
  | 'there'
  /** A document that `below` requires is not there. */
  | 'orphan'
  /** Another document has the key of this unique index. */
  | { taken: string };

/**
 * A change of one document, the target, with the rows, counters and events that follow from it. A compare-and-set of the target
 * decides whether the change is made. The change is stored completely or not at all. No reader sees a part of the change
 * without the rest.
 */
export interface Change<D> {
  in: Collection<D>;
  /** The document as it was read, or the id of a new document. */
  target: Stored<D> | string;
  /** The new content of the target; `null` deletes it. */
  set: D | null;
  /**
   * If set, the target keeps only the fields of `set`. Otherwise, the target also keeps stored fields that the schema does not
   * know, because a newer version of Kith has written them. Set this option if the change deletes or erases the thing that the
   * document describes.
   */
  erases?: boolean;
  /** The keys of an index. For each key, the collection must already have a document with this key. */
  below?: { index: string; keys: readonly string[] };
  /** `put: null` removes the row. */
  rows?: readonly { in: AnyCollection; id: string; put: unknown }[];
  counters?: readonly { in: Counters; id: string; add: Readonly<Record<string, number>> }[];
  events?: readonly EventEnvelope[];
}

// biome-ignore lint/suspicious/noExplicitAny: for the reason given at `AnyCollection`.
export type AnyChange = Change<any>;

/** A copy of data that another service owns. `mark` counts as the last version: no later version replaces it. */
export interface Copy<D> {
  id: string;
  doc: D;
  epoch: number;
  version: number | 'mark';
}

/** A claim on a request that is not finished: only the holder of the claim may store an answer under this id. */
export interface Claim {
  id: string;
  token: string;
}

/** The outcome of an attempt to store changes together with their answer. */
export type Kept =
  | 'made'
  /** Another request has taken the claim over. Nothing is stored. */
  | 'lost'
  /**
   * The change at this position was refused, so nothing is stored. But if `isPartly` is set, some of the other changes are
   * stored, and they stay.
   */
  | { at: number; refusal: Refusal; isPartly?: true };

/**
 * The answers to requests with an idempotency key. Each answer is stored together with the change that it reports, or not at
 * all (docs/adr/0046).
 */
export interface Replies {
  /**
   * Begins a request and resolves to a claim on it. Resolves to the answer if the request was answered already, and to
   * `'running'` if it is still running. If a claim's holder has not finished within `forMs`, another request can take the claim
   * over. After another request has taken the claim over, the change of the earlier holder can no longer be stored.
   */
  begin(id: string, forMs: number): Promise<Claim | Reply | 'running'>;
  /**
   * Makes the changes of a request and keeps its answer. The request succeeds if its first change is made, because one write
   * stores this change together with the answer. The first change needs the other changes, so it is made last. If a change is
   * refused, the new targets that are made already are erased again. On MongoDB, targets with rows, counters or events stay. If
   * the request is repeated, it finds these targets.
   */
  keep(changes: readonly AnyChange[], claim: Claim, reply: Reply): Promise<Kept>;
  /**
   * Ends a request that has kept no answer. Does nothing if the request has kept an answer, or while its change may still be
   * stored.
   */
  release(claim: Claim): Promise<void>;
  /** Deletes the answers of a user permanently. */
  forget(user: { projectId: string; userId: string }): Promise<void>;
}

/**
 * A service's database in terms of collections and changes. A compare-and-set of one document decides whether a change is made
 * (docs/adr/0037). Hides the query language, ids and errors of the engine.
 */
export interface Documents {
  readonly outbox: Outbox;
  /** The answers to requests with an idempotency key. Present if `replyCollection` is declared. */
  readonly replies: Replies | undefined;
  /**
   * Returns documents by id. Missing documents are left out. With `settled`, also settles the documents: later reads show
   * everything that follows from their changes.
   */
  get<D>(
    of: Collection<D>,
    ids: readonly string[],
    how?: { settled?: boolean },
  ): Promise<Map<string, Stored<D>>>;
  /** Returns documents by keys of an index. The documents of each key are in the order of their ids. */
  by<D>(of: Collection<D>, index: string, keys: readonly string[]): Promise<Map<string, Stored<D>[]>>;
  /** The search texts of documents, by id. Reads only these texts, and not the whole documents. */
  texts<F extends string>(
    of: AnyCollection,
    ids: readonly string[],
    fields: readonly F[],
  ): Promise<Map<string, Record<F, string>>>;
  /** The ids of documents that have these keys of an index. Reads only the ids, and not the whole documents. */
  idsBy(of: AnyCollection, index: string, keys: readonly string[]): Promise<Map<string, string[]>>;
  /** Settles one target, or all targets in a range of ids. Later reads then show everything that follows from their changes. */
  settle<D>(of: Collection<D>, which: Stored<D> | IdRange): Promise<void>;
  /** The values of counters, by id. The result has an entry for every given id. */
  sums<F extends string>(of: Counters<F>, ids: readonly string[]): Promise<Map<string, Record<F, number>>>;
  /**
   * Returns the documents in a range of ids, or of keys of an index, in the order of the ids or keys. Documents with the same
   * key are sorted by id. To read an index in several calls, all its keys must differ.
   */
  range<D>(of: Collection<D>, range: Range, index?: string): Promise<Stored<D>[]>;
  /** The rows of a range, and the total number of rows, which a counter holds. Reads both at about the same time. */
  page<D>(
    of: Collection<D>,
    range: Range,
    total: { in: Counters; id: string; field: string },
  ): Promise<{ rows: Stored<D>[]; total: number }>;
  /**
   * The number of documents in a range. Reads all of them, so use it only for operators' lists and for short lists of one user.
   * With a limit, counts only up to the limit.
   */
  count(of: AnyCollection, range: Counted, index?: string): Promise<number>;
  /**
   * Searches a range for documents with a field that contains a text. Returns the documents and their total. With `starts`, the
   * field has to begin with the text. Reads the whole range, or with `atOnce` a part of it.
   */
  search<D>(of: Collection<D>, range: Range, how: Search): Promise<Found<D>>;
  /**
   * Makes changes in order, in few round trips and independently of each other. Returns the outcome of each change. If this
   * method rejects, any of the changes may have been made, each completely or not at all. So read again before you try again.
   * If a request has an idempotency key, its changes are held until its answer is known. No read sees them before that
   * (`HeldChanges`).
   */
  change(changes: readonly AnyChange[]): Promise<('made' | Refusal)[]>;
  /**
   * Stores copies. Of each copy, only the newest version is kept. A version with a higher epoch is newer; within an epoch, a
   * higher version is newer. A mark is newer than every version. If copies arrive at the same time, one write stores them.
   */
  keep<D>(of: Collection<D>, copies: readonly Copy<D>[]): Promise<void>;
  /**
   * Permanently deletes at most `limit` rows, copies or counters whose ids are in a range. This deletion is not a change
   * (`change`). Also deletes the remains of rows that were removed before. Returns how many documents it has deleted. Does not
   * delete a counter if a change is about to add to it. Throws `TypeError` for targets.
   */
  clear(of: AnyCollection | Counters, range: Omit<Range, 'skip' | 'backwards' | 'except'>): Promise<number>;
  /**
   * Settles and returns at most `limit` targets that have one of the given keys, in no particular order. Another process may be
   * creating a target with one of these keys. This call makes that process check again, before its commit, whether the
   * documents that its change requires (`Change.below`) still exist. If such a document was deleted before this call, and the
   * call returns nothing, no target with these keys can appear any more.
   */
  remaining<D>(
    of: Collection<D>,
    index: string,
    keys: readonly string[],
    limit: number,
  ): Promise<Stored<D>[]>;
  /**
   * Removes at most `limit` rows from ranges of ids, without a change, and returns the ranges that may still hold rows. To
   * remove all rows, call this method with the ranges that it has returned, until it returns none. Unlike `clear`, this method
   * prevents a delayed writer from bringing the rows back. Use this for the rows of settled targets that are about to be
   * erased.
   */
  clearRows(of: AnyCollection, ranges: readonly IdRange[], limit: number): Promise<readonly IdRange[]>;
  /**
   * Erases settled targets. Does not erase targets that have changed since they were read, or that still hold events. On
   * MongoDB, a change first stores its events in its target, and the relay copies them out later. Returns how many targets were
   * erased.
   */
  eraseAll<D>(of: Collection<D>, targets: readonly Stored<D>[]): Promise<number>;
  /**
   * Deletes a target and all that is left of it, permanently and without a change. Use it for the remains of an ended account.
   * If only the id is given, deletes the target with this id, or what is left of it. Returns `false` if the target has changed
   * since it was read. Also returns `false` while the target still holds events (`eraseAll`), or while the writes that follow
   * from its changes are not made yet.
   */
  erase<D>(of: Collection<D>, target: Stored<D> | string): Promise<boolean>;
  /** Deletes rows or copies by id permanently, as `clear` does. Throws `TypeError` for targets. */
  clearIds(of: AnyCollection, ids: readonly string[]): Promise<void>;
  /**
   * Whether the last change of a target was at most `ms` ago, and was made before the target was read. Uses the database's
   * clock, because replicas' clocks differ. The creation of a target does not count as a change. The collection must be
   * `dated`.
   */
  changedWithin<D>(of: Collection<D>, target: Stored<D>, ms: number): Promise<boolean>;
  /**
   * Deletes expired documents and old events, and settles the changes that processes left unsettled when they died. Rejects if
   * something could not be done; the next sweep tries it again.
   */
  sweep(): Promise<void>;
  /** Rejects when the database cannot be used. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Checks the documents of changes against the schemas of their collections, so that errors are found before anything is
 * written.
 */
export function checkedChanges(changes: readonly AnyChange[]) {
  const checked = (of: AnyCollection, doc: unknown) => (doc === null ? null : of.schema.parse(doc));
  const loud = changes.find((one) => one.in.silent && (one.events?.length ?? 0) > 0);
  if (loud) throw new TypeError(`${loud.in.name} is silent, so its changes must not have events.`);
  return changes.map((one) => ({
    ...one,
    set: one.set === null ? null : { ...checked(one.in, one.set), ...unknownFields(one) },
    rows: (one.rows ?? []).map((row) => ({ ...row, put: checked(row.in, row.put) })),
  }));
}

/** The fields that a change keeps, although its schema does not know them (docs/adr/0037). */
function unknownFields({ in: of, target, erases = false }: AnyChange): Record<string, unknown> {
  if (typeof target === 'string' || erases) return {};
  const fields = Object.entries(target.doc as object);
  return Object.fromEntries(fields.filter(([name]) => !Object.hasOwn(of.schema.shape, name)));
}

/** Groups pairs by key; the values of each key keep their order. */
export function gathered<T>(pairs: readonly (readonly [key: string, one: T])[]): Map<string, T[]> {
  const byKey = new Map<string, T[]>();
  for (const [key, one] of pairs) {
    const some = byKey.get(key);
    if (some) some.push(one);
    else byKey.set(key, [one]);
  }
  return byKey;
}

/** The rank of a copy among the versions of its id: a mark is above all versions. */
export function standingOf({ epoch, version }: Pick<Copy<unknown>, 'epoch' | 'version'>): {
  epoch: number;
  newest: number;
} {
  if (version !== 'mark') return { epoch, newest: version };
  return { epoch: Number.MAX_SAFE_INTEGER, newest: Number.MAX_SAFE_INTEGER };
}

/**
 * The total of a search, if the results alone show it. `undefined` if the total is known only after the range is read a second
 * time.
 */
export function knownTotal(
  { above, limit, skip = 0 }: Range,
  found: number,
  { after = above, uncounted }: Pick<Search, 'after' | 'uncounted'>,
): number | undefined {
  if (uncounted) return found;
  const isEnd = found < limit && (found > 0 || skip === 0);
  return isEnd && after === above ? skip + found : undefined;
}

/** Throws `TypeError` for targets. Clearing a target would leave its rows and counters behind. */
export function refuseTargets(of: AnyCollection | Counters): void {
  if ('kind' in of && of.kind === 'target') {
    throw new TypeError(`${of.name} has targets. They are removed only by changes.`);
  }
}

/** The first schema version in which databases hold documents. Before this version, each service had a layout of its own. */
export const oldestLayout = 100;
