import { randomInt } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openSqlite, type Synchronous, transaction } from '../drivers/sqlite.ts';
import { SqliteBulks } from '../drivers/sqlite-bulks.ts';
import { SqliteOutbox, sqliteOutboxParts } from '../outbox/sqlite-outbox.ts';
import { CarriedEvent } from './carried-event.ts';
import {
  type AnyCollection,
  asDeclared,
  type Collection,
  type Counters,
  type Declared,
} from './collection.ts';
import {
  type AnyChange,
  type Copy,
  type Counted,
  checkedChanges,
  type Documents,
  type Found,
  gathered,
  type IdRange,
  oldestLayout,
  type Range,
  type Refusal,
  refuseTargets,
  type Search,
  type Stored,
  standingOf,
} from './documents.ts';
import { HeldChanges } from './held-changes.ts';
import { type Note, notesToWrite } from './layout.ts';
import { replyCollection } from './reply-collection.ts';
import { SqliteReplies } from './sqlite-replies.ts';
import { SqliteCounters, SqliteTable, type TableRow } from './sqlite-table.ts';

export interface SqliteDocumentsOptions extends Declared {
  /** Path, or `:memory:`. */
  file: string;
  synchronous?: Synchronous | undefined;
}

/** A version of a document. `rev` is random, so that nobody mistakes a new document for a deleted one with the same id. */
type Read<D> = Stored<D> & { rev: number };

/**
 * If a call makes this many changes or more, it is a bulk. During a bulk, the write-ahead log is copied back into the database
 * less often.
 */
const bulk = 100;
/** How many expired documents one statement deletes. No request is served meanwhile. */
const expiredAtOnce = 1_000;

/** Opens a service's database on SQLite, where a change is one transaction. Throws `StartError`. */
export function openSqliteDocuments(options: SqliteDocumentsOptions): Documents {
  const { file, collections, counters = [], synchronous } = options;
  const db = openSqlite({ file, synchronous, migrations: [layoutTable], oldest: oldestLayout });
  try {
    bringUpToDate(db, file, [...collections, ...counters]);
    return new SqliteDocuments(db, collections, counters);
  } catch (error) {
    db.close();
    throw error;
  }
}

const layoutTable = 'CREATE TABLE layout (name TEXT NOT NULL PRIMARY KEY, made TEXT NOT NULL) WITHOUT ROWID';

/**
 * Creates declared tables that are missing. Refuses a table that differs from its declaration, because such a table needs a
 * migration. Also refuses a table with documents of a newer shape.
 */
function bringUpToDate(
  db: DatabaseSync,
  file: string,
  declared: readonly (AnyCollection | Counters)[],
): void {
  const statements = new Map([
    ...sqliteOutboxParts.map((one): [string, readonly string[]] => [one.name, one.statements]),
    ...declared.map((one): [string, readonly string[]] => [
      one.name,
      'fields' in one ? SqliteCounters.statementsOf(one) : SqliteTable.statementsOf(one),
    ]),
  ]);
  transaction(db, () => {
    const rows = db.prepare('SELECT name, made FROM layout').all();
    const stored = new Map(rows.map(({ name, made }) => [String(name), String(made)]));
    const parts: Note[] = sqliteOutboxParts
      .filter(({ name }) => !stored.has(name))
      .map(({ name }) => ({ name, made: '' }));
    for (const { name, made, before } of [...parts, ...notesToWrite(file, stored, declared)]) {
      if (before === undefined) for (const statement of statements.get(name) ?? []) db.exec(statement);
      db.prepare('INSERT OR REPLACE INTO layout (name, made) VALUES (?, ?)').run(name, made);
    }
  });
}

class SqliteDocuments implements Documents {
  readonly outbox: SqliteOutbox;
  readonly replies: SqliteReplies | undefined;
  readonly #db: DatabaseSync;
  readonly #bulks: SqliteBulks;
  readonly #tables: ReadonlyMap<string, SqliteTable<unknown>>;
  readonly #counters: ReadonlyMap<string, SqliteCounters>;

  constructor(db: DatabaseSync, collections: readonly AnyCollection[], counters: readonly Counters[]) {
    this.#db = db;
    this.#bulks = new SqliteBulks(db);
    this.outbox = new SqliteOutbox(db);
    this.#tables = new Map(collections.map((one) => [one.name, new SqliteTable(db, one)]));
    this.#counters = new Map(counters.map((one) => [one.name, new SqliteCounters(db, one)]));
    const replies = collections.includes(replyCollection) && this.#tableOf(replyCollection);
    this.replies = replies ? new SqliteReplies(db, replies, (change) => this.#makeWhole(change)) : undefined;
  }

  async get<D>(of: Collection<D>, ids: readonly string[]): Promise<Map<string, Stored<D>>> {
    const rows = this.#tableOf(of).findAll(ids);
    return new Map(rows.map((row) => [row.id, read(of, row)]));
  }

  async by<D>(of: Collection<D>, index: string, keys: readonly string[]): Promise<Map<string, Stored<D>[]>> {
    return gathered(
      this.#tableOf(of)
        .findBy(index, keys)
        .map(({ key, row }) => [key, read(of, row)]),
    );
  }

  async texts<F extends string>(
    of: AnyCollection,
    ids: readonly string[],
    fields: readonly F[],
  ): Promise<Map<string, Record<F, string>>> {
    return this.#tableOf(of).texts(ids, fields);
  }

  async sums<F extends string>(
    of: Counters<F>,
    ids: readonly string[],
  ): Promise<Map<string, Record<F, number>>> {
    const counters = this.#countersOf(of);
    return new Map(ids.map((id) => [id, counters.find(id) as Record<F, number>]));
  }

  async range<D>(of: Collection<D>, range: Range, index?: string): Promise<Stored<D>[]> {
    return this.#tableOf(of)
      .range(range, index)
      .map((row) => read(of, row));
  }

  async page<D>(
    of: Collection<D>,
    range: Range,
    { in: counters, id, field }: { in: Counters; id: string; field: string },
  ): Promise<{ rows: Stored<D>[]; total: number }> {
    const counted = this.#countersOf(counters).find(id)[field] ?? 0;
    const total = Math.max(counted - (range.except?.length ?? 0), 0);
    return { rows: (range.skip ?? 0) >= total ? [] : await this.range(of, range), total };
  }

  async count(of: AnyCollection, range: Counted, index?: string): Promise<number> {
    return this.#tableOf(of).count(range, index);
  }

  async search<D>(of: Collection<D>, range: Range, how: Search): Promise<Found<D>> {
    const { rows, ...rest } = this.#tableOf(of).search(range, how);
    return { found: rows.map((row) => read(of, row)), ...rest };
  }

  change(changes: readonly AnyChange[]): Promise<('made' | Refusal)[]> {
    return CarriedEvent.along(this.outbox, changes, (all) => this.#change(all));
  }

  async #change(changes: readonly AnyChange[]): Promise<('made' | Refusal)[]> {
    const held = this.replies && HeldChanges.current(this.replies);
    if (held) return held.hold(changes);
    const checked = checkedChanges(changes);
    const all = () => {
      const following = new SqliteFollowing();
      const outcomes = checked.map((one) => this.#make(one, following));
      following.write();
      return outcomes;
    };
    return checked.length < bulk ? transaction(this.#db, all) : this.#bulks.run(all);
  }

  async keep<D>(of: Collection<D>, copies: readonly Copy<D>[]): Promise<void> {
    const table = this.#tableOf(of);
    const checked = copies.map((copy) => ({ ...copy, doc: of.schema.parse(copy.doc) }));
    const all = () => {
      for (const { id, doc, epoch, version } of checked) {
        table.keep(id, newRev(), doc, standingOf({ epoch, version }));
      }
    };
    if (copies.length < bulk) transaction(this.#db, all);
    else await this.#bulks.run(all);
  }

  async clear(
    of: AnyCollection | Counters,
    { above, below, limit }: Omit<Range, 'skip' | 'backwards' | 'except'>,
  ): Promise<number> {
    refuseTargets(of);
    const table = 'fields' in of ? this.#countersOf(of) : this.#tableOf(of);
    return transaction(this.#db, () => table.removeRange(above, below, limit));
  }

  async idsBy(of: AnyCollection, index: string, keys: readonly string[]): Promise<Map<string, string[]>> {
    return gathered(this.#tableOf(of).idsBy(index, keys));
  }

  /** Does nothing, because a transaction leaves nothing to settle. */
  async settle(): Promise<void> {}

  async remaining<D>(
    of: Collection<D>,
    index: string,
    keys: readonly string[],
    limit: number,
  ): Promise<Stored<D>[]> {
    const table = this.#tableOf(of);
    const found: TableRow[] = [];
    for (const key of keys) {
      found.push(...table.some(index, key, limit - found.length));
      if (found.length === limit) break;
    }
    return found.map((row) => read(of, row));
  }

  async clearRows(of: AnyCollection, ranges: readonly IdRange[], limit: number): Promise<readonly IdRange[]> {
    refuseTargets(of);
    const table = this.#tableOf(of);
    return transaction(this.#db, () => {
      let left = limit;
      for (const [at, { above, below }] of ranges.entries()) {
        left -= table.removeRange(above, below, left);
        if (left === 0) return ranges.slice(at);
      }
      return [];
    });
  }

  async eraseAll<D>(of: Collection<D>, targets: readonly Stored<D>[]): Promise<number> {
    const table = this.#tableOf(of);
    const erased = ({ id, rev }: Read<D>) => table.removeVersion(id, rev);
    return transaction(this.#db, () => targets.filter((one) => erased(one as Read<D>)).length);
  }

  async erase<D>(of: Collection<D>, target: Stored<D> | string): Promise<boolean> {
    const table = this.#tableOf(of);
    if (typeof target !== 'string') return table.removeVersion(target.id, (target as Read<D>).rev);
    table.remove(target);
    return true;
  }

  async clearIds(of: AnyCollection, ids: readonly string[]): Promise<void> {
    refuseTargets(of);
    const table = this.#tableOf(of);
    transaction(this.#db, () => {
      for (const id of ids) table.remove(id);
    });
  }

  async changedWithin<D>(of: Collection<D>, target: Stored<D>, ms: number): Promise<boolean> {
    return this.#tableOf(of).changedSince(target.id, (target as Read<D>).rev, Date.now() - ms);
  }

  async sweep(): Promise<void> {
    const now = Date.now();
    for (const table of this.#tables.values()) {
      if (!table.collection.expires) continue;
      while (table.expire(now, expiredAtOnce) === expiredAtOnce) await nextTurn();
    }
    await this.outbox.expire();
  }

  async check(): Promise<void> {
    this.#db.prepare('SELECT count(*) FROM layout').get();
  }

  async close(): Promise<void> {
    if (this.#db.isOpen) this.#db.close();
  }

  /** Makes a change with all that follows from it, inside a transaction. */
  #makeWhole(change: AnyChange): 'made' | Refusal {
    const following = new SqliteFollowing();
    const outcome = this.#make(checkedChanges([change])[0] as AnyChange, following);
    following.write();
    return outcome;
  }

  /** Makes a change inside a transaction. If the change is refused, nothing was written. */
  #make(change: AnyChange, following: SqliteFollowing): 'made' | Refusal {
    const { rows = [], counters = [], events = [] } = change;
    const refusal = this.#setTarget(change);
    if (refusal !== undefined) return refusal;
    for (const row of rows) following.put(this.#tableOf(row.in), row);
    for (const sum of counters) following.add(this.#countersOf(sum.in), sum);
    for (const event of events) this.outbox.add(event);
    return 'made';
  }

  #setTarget({ in: of, target, set, below }: AnyChange): Refusal | undefined {
    const table = this.#tableOf(of);
    const isNew = typeof target === 'string';
    const id = isNew ? target : target.id;
    // The id of a new target is not looked for before the insert, because most inserts succeed.
    if (isNew && set !== null && !below && table.insert(id, newRev(), set)) return undefined;
    const current = table.find(id);
    if (isNew && current) return 'there';
    if (!isNew && current?.rev !== (target as Read<unknown>).rev) return 'changed';
    if (below && below.keys.length > 0) {
      const there = new Set(table.idsBy(below.index, below.keys).map(([key]) => key));
      if (below.keys.some((key) => !there.has(key))) return 'orphan';
    }
    if (set === null) return void table.remove(id);
    if (!current && table.insert(id, newRev(), set)) return undefined;
    const taken = current ? table.replace(current, newRev(), set, Date.now()) : table.takenBy(id, set);
    return taken === undefined ? undefined : { taken };
  }

  #tableOf<D>({ name }: Collection<D>): SqliteTable<D> {
    const table = this.#tables.get(name);
    if (!table) throw new TypeError(`${name} is not one of this database's collections.`);
    return table as SqliteTable<D>;
  }

  #countersOf({ name }: Counters): SqliteCounters {
    const counters = this.#counters.get(name);
    if (!counters) throw new TypeError(`${name} is not one of this database's counters.`);
    return counters;
  }
}

/**
 * Gathers the rows and sums that follow from the changes of one transaction, and writes them at its end in the order of their
 * ids. In this order, neighbouring rows are on the same pages, so fewer pages change.
 */
class SqliteFollowing {
  readonly #rows = new Map<SqliteTable<unknown>, Map<string, unknown>>();
  readonly #sums = new Map<SqliteCounters, Map<string, Record<string, number>>>();

  put(table: SqliteTable<unknown>, { id, put }: { id: string; put: unknown }): void {
    const rows = this.#rows.get(table) ?? new Map<string, unknown>();
    this.#rows.set(table, rows.set(id, put));
  }

  add(counters: SqliteCounters, { id, add }: { id: string; add: Readonly<Record<string, number>> }): void {
    const sums = this.#sums.get(counters) ?? new Map<string, Record<string, number>>();
    const sum = sums.get(id) ?? {};
    for (const [field, by] of Object.entries(add)) sum[field] = (sum[field] ?? 0) + by;
    this.#sums.set(counters, sums.set(id, sum));
  }

  write(): void {
    for (const [table, rows] of this.#rows) {
      for (const [id, put] of inOrder(rows)) {
        if (put === null) table.remove(id);
        else table.put(id, newRev(), put);
      }
    }
    for (const [counters, sums] of this.#sums) for (const [id, sum] of inOrder(sums)) counters.add(id, sum);
  }
}

function inOrder<T>(byId: ReadonlyMap<string, T>): [string, T][] {
  return [...byId].sort(([one], [other]) => (one < other ? -1 : 1));
}

function newRev(): number {
  return randomInt(2 ** 48 - 1);
}

function read<D>(of: Collection<D>, { id, rev, shape, doc }: TableRow): Read<D> {
  return { id, rev, doc: asDeclared(of, JSON.parse(doc), shape) };
}
