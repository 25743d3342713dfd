import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { AnyCollection, Collection, Counters } from './collection.ts';
import { type Counted, knownTotal, type Range, type Search } from './documents.ts';

/** A row of a collection's table. */
export interface TableRow {
  id: string;
  /** The version of a target. */
  rev: number;
  shape: number;
  doc: string;
}

type Value = string | number | null;

/** Reading a row as an array takes two thirds of the time of reading it as an object. */
const asArrays = { asArrays: true } as const;

/** The last code point: a text followed by it sorts after every other text with the same beginning. */
const end = '\u{10ffff}';

/**
 * A collection's table on SQLite. It stores each document as JSON, and has further columns for the indexes and the searched
 * texts. The table has a rowid. So if a list skips rows, only an index is read for these rows (docs/adr/0037).
 */
export class SqliteTable<D> {
  readonly collection: Collection<D>;
  readonly #db: DatabaseSync;
  readonly #indexes: readonly string[];
  readonly #texts: readonly string[];
  /** The columns that are read for a `TableRow`. They include `rev` only for targets. */
  readonly #content: string;
  readonly #put: StatementSync;
  readonly #insert: StatementSync;
  /** The text `name = ?` for each column. */
  readonly #assignments: readonly string[];
  /** For each unique index: the position of its column, and a statement that finds another document with the same key. */
  readonly #unique: readonly { index: string; at: number; held: StatementSync }[];
  readonly #statements = new Map<string, StatementSync>();

  constructor(db: DatabaseSync, collection: Collection<D>) {
    this.#db = db;
    this.collection = collection;
    this.#indexes = Object.keys(collection.indexes ?? {});
    this.#texts = Object.keys(collection.search ?? {});
    this.#content = `id, shape, doc${collection.kind === 'target' ? ', rev' : ''}`;
    const columns = columnsOf(collection).map(quoted);
    const set = columns.slice(1).map((name) => `${name} = excluded.${name}`);
    const isNewer =
      collection.kind === 'copy' ? 'WHERE (excluded.epoch, excluded.newest) > (epoch, newest)' : '';
    const insert = `INSERT INTO ${quoted(collection.name)} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
    this.#put = db.prepare(`${insert} ON CONFLICT (id) DO UPDATE SET ${set.join(', ')} ${isNewer}`);
    this.#insert = db.prepare(`${insert} ON CONFLICT DO NOTHING`);
    this.#assignments = columns.map((name) => `${name} = ?`);
    this.#unique = this.#indexes
      .filter((index) => collection.indexes?.[index]?.unique)
      .map((index) => ({
        index,
        at: columns.indexOf(this.#column(index)),
        held: db.prepare(
          `SELECT 1 FROM ${quoted(collection.name)} WHERE ${this.#column(index)} = ? AND id <> ?`,
        ),
      }));
  }

  /** The statements that make the table and its indexes, in the order in which they must run. */
  static statementsOf({ name, kind, indexes = {}, search = {}, dated }: AnyCollection): string[] {
    const columns = [
      ...[
        'id TEXT NOT NULL PRIMARY KEY',
        'rev INTEGER NOT NULL',
        'shape INTEGER NOT NULL',
        'doc TEXT NOT NULL',
      ],
      'expires INTEGER',
      ...(dated ? ['changed INTEGER'] : []),
      ...(kind === 'copy' ? ['epoch INTEGER NOT NULL', 'newest INTEGER NOT NULL'] : []),
      ...Object.keys(indexes).map((index) => `${quoted(keyColumn(index))} TEXT`),
      ...Object.keys(search).map((field) => `${quoted(textColumn(field))} TEXT NOT NULL`),
    ];
    return [
      `CREATE TABLE ${quoted(name)} (${columns.join(', ')})`,
      `CREATE INDEX "${name} expires" ON ${quoted(name)} (expires) WHERE expires IS NOT NULL`,
      ...Object.entries(indexes).map(([index, { unique }]) => {
        const column = quoted(keyColumn(index));
        const on = `ON ${quoted(name)} (${unique ? column : `${column}, id`}) WHERE ${column} IS NOT NULL`;
        return `CREATE ${unique ? 'UNIQUE ' : ''}INDEX "${name} ${index}" ${on}`;
      }),
    ];
  }

  find(id: string): TableRow | undefined {
    const select = this.#prepared('find', () => `SELECT ${this.#content} FROM :table WHERE id = ?`, asArrays);
    const row = select.get(id);
    return row && rowOf(row);
  }

  /**
   * The documents with these ids, in no particular order. Missing documents are left out. Uses one statement, because each
   * statement locks the database.
   */
  findAll(ids: readonly string[]): TableRow[] {
    if (ids.length === 1) return [this.find(ids[0] as string)].filter((row) => row !== undefined);
    const sql = () => `SELECT ${this.#content} FROM :table WHERE id IN (SELECT value FROM json_each(?))`;
    return this.#prepared('find all', sql, asArrays).all(JSON.stringify(ids)).map(rowOf);
  }

  /** The documents with these keys, each with its key, in the order of their ids. */
  findBy(index: string, keys: readonly string[]): { key: string; row: TableRow }[] {
    const rows = this.#ofKeys(index, keys, this.#content);
    return rows.map(([key, ...columns]) => ({ key: String(key), row: rowOf(columns) }));
  }

  texts<F extends string>(ids: readonly string[], fields: readonly F[]): Map<string, Record<F, string>> {
    const columns = () => fields.map((field) => this.#text(field)).join(', ');
    const sql = () => `SELECT id, ${columns()} FROM :table WHERE id IN (SELECT value FROM json_each(?))`;
    const select = this.#prepared(`texts ${fields.join()}`, sql, asArrays);
    const rows = select.all(JSON.stringify(ids)) as unknown as string[][];
    return new Map(
      rows.map(([id, ...texts]) => {
        const named = fields.map((field, at) => [field, texts[at]]);
        return [id as string, Object.fromEntries(named) as Record<F, string>];
      }),
    );
  }

  /** Pairs of a key and the id of a document with this key. */
  idsBy(index: string, keys: readonly string[]): [string, string][] {
    return this.#ofKeys(index, keys, 'id') as [string, string][];
  }

  /** The key and the given columns of each document that has one of these keys, in the order of their ids. */
  #ofKeys(index: string, keys: readonly string[], columns: string): unknown[][] {
    // Usually there is only one key. Then the statement needs no list of keys.
    const one = keys.length === 1 ? keys[0] : undefined;
    const sql = () => {
      const column = this.#column(index);
      const some = one === undefined ? 'IN (SELECT value FROM json_each(?))' : '= ?';
      return `SELECT ${column}, ${columns} FROM :table WHERE ${column} ${some} ORDER BY id`;
    };
    const select = this.#prepared(`${columns} by ${index} ${one === undefined}`, sql, asArrays);
    return select.all(one ?? JSON.stringify(keys)) as unknown as unknown[][];
  }

  /** Returns at most `limit` documents that have the given key in an index. */
  some(index: string, key: string, limit: number): TableRow[] {
    const sql = () => `SELECT ${this.#content} FROM :table WHERE ${this.#column(index)} = ? LIMIT ?`;
    return this.#prepared(`some ${index}`, sql, asArrays).all(key, limit).map(rowOf);
  }

  range({ above, below, limit, skip = 0, backwards, except = [] }: Range, index?: string): TableRow[] {
    const sql = () => {
      const column = this.#column(index);
      const order = backwards ? 'DESC' : 'ASC';
      const passed = except.length > 0 ? `AND ${column} NOT IN (SELECT value FROM json_each(?))` : '';
      return `SELECT ${this.#content} FROM :table WHERE ${column} > ? AND ${column} < ? ${passed}
        ORDER BY ${column} ${order}, id ${order} LIMIT ? OFFSET ?`;
    };
    const select = this.#prepared(`range ${index} ${backwards} ${except.length > 0}`, sql, asArrays);
    const names = except.length > 0 ? [JSON.stringify(except)] : [];
    return select.all(above, below, ...names, limit, skip).map(rowOf);
  }

  count({ above, below, limit, except = [] }: Counted, index?: string): number {
    const column = this.#column(index);
    // The database checks this condition for each row, so it is added only if there is something to leave out.
    const passed = except.length > 0 ? `AND ${column} NOT IN (SELECT value FROM json_each(?))` : '';
    const from = `FROM :table WHERE ${column} > ? AND ${column} < ? ${passed}`;
    // Without a limit, SQLite counts faster if there is no inner statement.
    const sql =
      limit === undefined
        ? `SELECT count(*) AS n ${from}`
        : `SELECT count(*) AS n FROM (SELECT 1 ${from} LIMIT ?)`;
    const names = except.length > 0 ? [JSON.stringify(except)] : [];
    const most = limit === undefined ? [] : [limit];
    return (this.#prepared(sql, () => sql).get(above, below, ...names, ...most) as { n: number }).n;
  }

  search(
    range: Range,
    { text, fields, starts, index, after, uncounted, atOnce }: Search,
  ): { rows: TableRow[]; total: number; next?: string | undefined } {
    const column = this.#column(index);
    const has = (field: string) => {
      const name = this.#text(field);
      return starts ? `(${name} >= :text AND ${name} < :text || '${end}')` : `instr(${name}, :text) > 0`;
    };
    const { above, below, limit, skip = 0, backwards, except = [] } = range;
    const passed = except.length > 0 ? `AND ${column} NOT IN (SELECT value FROM json_each(:except))` : '';
    const next =
      atOnce === undefined ? undefined : this.#nthKey(atOnce, { above: after ?? above, below }, index);
    // Combines the two upper bounds into one, because SQLite would use only one of them to find the rows in the index.
    const from = `FROM :table WHERE ${column} > :above AND ${column} ${next === undefined ? '<' : '<='} :below ${passed}
      AND (${fields.map(has).join(' OR ')})`;
    const asked = {
      ...{ above, below: next ?? below, text },
      ...(except.length > 0 && { except: JSON.stringify(except) }),
    };
    const page = `SELECT ${this.#content} ${from} ORDER BY ${column} ${backwards ? 'DESC, id DESC' : 'ASC, id ASC'} LIMIT :limit OFFSET :skip`;
    const rows = this.#prepared(page, () => page, asArrays)
      .all({ ...asked, above: after ?? above, limit, skip })
      .map(rowOf);
    const total =
      knownTotal(range, rows.length, { after, uncounted }) ??
      (this.#prepared(`count ${from}`, () => `SELECT count(*) AS n ${from}`).get(asked) as { n: number }).n;
    return { rows, total, next: rows.length < limit ? next : undefined };
  }

  /** The key of the nth document of a range, if the range has that many. Reads only the index. */
  #nthKey(nth: number, { above, below }: Pick<Range, 'above' | 'below'>, index?: string): string | undefined {
    const column = this.#column(index);
    const sql = () =>
      `SELECT ${column} FROM :table WHERE ${column} > ? AND ${column} < ? ORDER BY ${column} LIMIT 1 OFFSET ?`;
    const select = this.#prepared(`nth key ${index}`, sql, asArrays);
    const [row] = select.all(above, below, nth - 1) as unknown as string[][];
    return row?.[0];
  }

  /**
   * Stores a document, and overwrites an older one with the same id. `changed` is the time at which an existing document was
   * last changed, Unix ms; null for a new document.
   */
  put(id: string, rev: number, doc: D, changed: number | null = null): void {
    this.#put.run(...valuesOf(this.collection, { id, rev, doc, changed }));
  }

  /**
   * Replaces a document. `changed` is the time of the change, Unix ms. If another document already has one of the new unique
   * keys, changes nothing and returns the name of that key's index. Writes only columns that differ, because writing a column
   * also updates its index.
   */
  replace(current: TableRow, rev: number, doc: D, changed: number): string | undefined {
    const { id, shape } = current;
    const after = valuesOf(this.collection, { id, rev, doc, changed });
    const isOfShape = shape === this.collection.version;
    // If the stored document has another shape, all columns are written.
    const before = isOfShape
      ? valuesOf(this.collection, { id, rev: current.rev, doc: JSON.parse(current.doc) })
      : [id];
    const differing = [...after.keys()].filter((at) => before[at] !== after[at]);
    const taken = this.#takenBy(id, after, differing);
    if (taken !== undefined) return taken;
    const set = differing.map((at) => this.#assignments[at]).join(', ');
    const values = differing.map((at) => after[at] as Value);
    this.#prepared(set, () => `UPDATE :table SET ${set} WHERE id = ?`).run(...values, id);
    return undefined;
  }

  /** Inserts a document; returns `false` if its id or one of its unique keys is taken. */
  insert(id: string, rev: number, doc: D): boolean {
    return this.#insert.run(...valuesOf(this.collection, { id, rev, doc })).changes === 1;
  }

  /** The first unique index in which another document already has the key of this document. */
  takenBy(id: string, doc: D): string | undefined {
    return this.#takenBy(id, valuesOf(this.collection, { id, rev: 0, doc }));
  }

  changedSince(id: string, rev: number, since: number): boolean {
    const sql = 'SELECT 1 FROM :table WHERE id = ? AND rev = ? AND changed >= ?';
    return this.#prepared(sql, () => sql).get(id, rev, since) !== undefined;
  }

  /** Stores a copy, and overwrites an older copy with the same id. */
  keep(id: string, rev: number, doc: D, { epoch, newest }: { epoch: number; newest: number }): void {
    this.#put.run(...valuesOf(this.collection, { id, rev, doc }), epoch, newest);
  }

  remove(id: string): void {
    this.#prepared('remove', () => 'DELETE FROM :table WHERE id = ?').run(id);
  }

  /** Deletes a document if it still has this version. Returns whether the document was deleted. */
  removeVersion(id: string, rev: number): boolean {
    const sql = 'DELETE FROM :table WHERE id = ? AND rev = ?';
    return this.#prepared(sql, () => sql).run(id, rev).changes === 1;
  }

  /** Deletes at most `limit` documents in a range of ids; returns how many. */
  removeRange(above: string, below: string, limit: number): number {
    const sql =
      'DELETE FROM :table WHERE id IN (SELECT id FROM :table WHERE id > ? AND id < ? ORDER BY id LIMIT ?)';
    return Number(this.#prepared(sql, () => sql).run(above, below, limit).changes);
  }

  /** Deletes at most `limit` expired documents; returns how many. */
  expire(now: number, limit: number): number {
    const sql = 'DELETE FROM :table WHERE rowid IN (SELECT rowid FROM :table WHERE expires < ? LIMIT ?)';
    return Number(this.#prepared(sql, () => sql).run(now, limit).changes);
  }

  /**
   * The first unique index in which another document already has a key of these values. With `columns`, checks only these
   * columns. A column whose key has not changed need not be checked, because no other document can have this key.
   */
  #takenBy(id: string, values: readonly Value[], columns?: readonly number[]): string | undefined {
    return this.#unique.find(({ at, held }) => {
      const key = values[at] ?? null;
      return key !== null && columns?.includes(at) !== false && held.get(key, id) !== undefined;
    })?.index;
  }

  #column(index?: string): string {
    if (index === undefined) return 'id';
    if (!this.#indexes.includes(index)) throw new TypeError(`${this.collection.name} has no index ${index}.`);
    return quoted(keyColumn(index));
  }

  #text(field: string): string {
    if (!this.#texts.includes(field))
      throw new TypeError(`${this.collection.name} is not searched by ${field}.`);
    return quoted(textColumn(field));
  }

  /**
   * Finds a prepared statement by its name, because building the name takes less time than building the text of the statement.
   */
  #prepared(name: string, sql: () => string, how: { asArrays?: true } = {}): StatementSync {
    let statement = this.#statements.get(name);
    if (!statement) {
      statement = this.#db.prepare(sql().replaceAll(':table', quoted(this.collection.name)));
      statement.setReturnArrays(how.asArrays === true);
      this.#statements.set(name, statement);
    }
    return statement;
  }
}

/** Counters on SQLite: a column for each sum, so that an addition does not have to rewrite a text. */
export class SqliteCounters {
  readonly #fields: readonly string[];
  readonly #add: StatementSync;
  readonly #select: StatementSync;
  readonly #remove: StatementSync;

  constructor(db: DatabaseSync, { name, fields }: Counters) {
    this.#fields = fields;
    const columns = fields.map((field) => quoted(keyColumn(field)));
    const sums = columns.map((column) => `${column} = ${column} + excluded.${column}`);
    this.#add = db.prepare(
      `INSERT INTO ${quoted(name)} (id, ${columns.join(', ')}) VALUES (?${', ?'.repeat(fields.length)})
         ON CONFLICT (id) DO UPDATE SET ${sums.join(', ')}`,
    );
    const named = fields.map((field) => `${quoted(keyColumn(field))} AS "${field}"`);
    this.#select = db.prepare(`SELECT ${named.join(', ')} FROM ${quoted(name)} WHERE id = ?`);
    this.#remove = db.prepare(
      `DELETE FROM ${quoted(name)} WHERE id IN
         (SELECT id FROM ${quoted(name)} WHERE id > ? AND id < ? ORDER BY id LIMIT ?)`,
    );
  }

  static statementsOf({ name, fields }: Counters): string[] {
    const columns = fields.map((field) => `${quoted(keyColumn(field))} INTEGER NOT NULL`);
    return [
      `CREATE TABLE ${quoted(name)} (id TEXT NOT NULL PRIMARY KEY, ${columns.join(', ')}) WITHOUT ROWID`,
    ];
  }

  add(id: string, add: Readonly<Record<string, number>>): void {
    this.#add.run(id, ...this.#fields.map((field) => add[field] ?? 0));
  }

  find(id: string): Record<string, number> {
    const none = Object.fromEntries(this.#fields.map((field) => [field, 0]));
    return { ...none, ...(this.#select.get(id) as Record<string, number> | undefined) };
  }

  removeRange(above: string, below: string, limit: number): number {
    return Number(this.#remove.run(above, below, limit).changes);
  }
}

/** The columns of a collection's table, in their order. */
export function columnsOf({ kind, indexes = {}, search = {}, dated }: AnyCollection): string[] {
  return [
    ...['id', 'rev', 'shape', 'doc', 'expires', ...(dated ? ['changed'] : [])],
    ...Object.keys(indexes).map(keyColumn),
    ...Object.keys(search).map(textColumn),
    ...(kind === 'copy' ? ['epoch', 'newest'] : []),
  ];
}

/** A document's values for `columnsOf`, without `epoch` and `newest`. */
export function valuesOf<D>(
  { indexes = {}, search = {}, version, expires, dated }: Collection<D>,
  { id, rev, doc, changed = null }: { id: string; rev: number; doc: D; changed?: number | null },
): Value[] {
  return [
    ...[id, rev, version, JSON.stringify(doc), expires?.(doc) ?? null, ...(dated ? [changed] : [])],
    ...Object.values(indexes).map(({ key }) => key(doc, id)),
    ...Object.values(search).map((text) => text(doc)),
  ];
}

/** The column of an index, or of a counter's sum. */
export function keyColumn(name: string): string {
  return `by ${name}`;
}

function textColumn(field: string): string {
  return `text ${field}`;
}

function quoted(name: string): string {
  return `"${name}"`;
}

function rowOf(columns: unknown): TableRow {
  const [id, shape, doc, rev = 0] = columns as [string, number, string, number?];
  return { id, rev, shape, doc };
}
