import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { AnyCollection, Collection, Counters } from './collection.ts';
import type { Range } from './documents.ts';

/** A row of a collection's table. */
export interface TableRow {
  id: string;
  rev: number;
  shape: number;
  doc: string;
}

/** Above every text that begins alike: the last code point. */
const end = '\u{10ffff}';

/**
 * A collection's table on SQLite: the document as JSON, and beside it a column for each index and each searched text. It has a
 * rowid, as what a list skips is then an index alone (docs/adr/0037).
 */
export class SqliteTable<D> {
  readonly collection: Collection<D>;
  readonly #db: DatabaseSync;
  readonly #indexes: readonly string[];
  readonly #texts: readonly string[];
  readonly #statements = new Map<string, StatementSync>();

  constructor(db: DatabaseSync, collection: Collection<D>) {
    this.#db = db;
    this.collection = collection;
    this.#indexes = Object.keys(collection.indexes ?? {});
    this.#texts = Object.keys(collection.search ?? {});
  }

  /** The statements that make the table and its indexes, in their order. */
  static statementsOf({ name, kind, indexes = {}, search = {} }: AnyCollection): string[] {
    const columns = [
      ...[
        'id TEXT NOT NULL PRIMARY KEY',
        'rev INTEGER NOT NULL',
        'shape INTEGER NOT NULL',
        'doc TEXT NOT NULL',
      ],
      'expires INTEGER',
      ...(kind === 'copy' ? ['epoch INTEGER NOT NULL', 'newest INTEGER NOT NULL'] : []),
      ...Object.keys(indexes).map((index) => `${keyColumn(index)} TEXT`),
      ...Object.keys(search).map((field) => `${textColumn(field)} TEXT NOT NULL`),
    ];
    return [
      `CREATE TABLE ${tableOf(name)} (${columns.join(', ')})`,
      `CREATE INDEX "${name} expires" ON ${tableOf(name)} (expires) WHERE expires IS NOT NULL`,
      ...Object.entries(indexes).map(([index, { unique }]) => {
        const column = keyColumn(index);
        const on = `ON ${tableOf(name)} (${unique ? column : `${column}, id`}) WHERE ${column} IS NOT NULL`;
        return `CREATE ${unique ? 'UNIQUE ' : ''}INDEX "${name} ${index}" ${on}`;
      }),
    ];
  }

  find(id: string): TableRow | undefined {
    return this.#prepared(`SELECT id, rev, shape, doc FROM :table WHERE id = ?`).get(id) as
      | TableRow
      | undefined;
  }

  findBy(index: string, key: string): TableRow[] {
    const column = this.#column(index);
    const sql = `SELECT id, rev, shape, doc FROM :table WHERE ${column} = ? ORDER BY id`;
    return this.#prepared(sql).all(key) as unknown as TableRow[];
  }

  range({ above, below, limit, skip = 0, backwards, except = [] }: Range, index?: string): TableRow[] {
    const column = this.#column(index);
    const order = backwards ? 'DESC' : 'ASC';
    const passed = except.length > 0 ? `AND ${column} NOT IN (SELECT value FROM json_each(?))` : '';
    const sql = `SELECT id, rev, shape, doc FROM :table WHERE ${column} > ? AND ${column} < ? ${passed}
      ORDER BY ${column} ${order}, id ${order} LIMIT ? OFFSET ?`;
    const names = except.length > 0 ? [JSON.stringify(except)] : [];
    return this.#prepared(sql).all(above, below, ...names, limit, skip) as unknown as TableRow[];
  }

  count({ above, below, except = [] }: Omit<Range, 'limit' | 'skip'>, index?: string): number {
    const column = this.#column(index);
    const sql = `SELECT count(*) AS n FROM :table WHERE ${column} > ? AND ${column} < ?
      AND ${column} NOT IN (SELECT value FROM json_each(?))`;
    return (this.#prepared(sql).get(above, below, JSON.stringify(except)) as { n: number }).n;
  }

  search(
    range: Range,
    {
      text,
      fields,
      starts,
      index,
    }: { text: string; fields: readonly string[]; starts?: true; index?: string },
  ): { rows: TableRow[]; total: number } {
    const column = this.#column(index);
    const has = (field: string) => {
      const name = this.#text(field);
      return starts ? `(${name} >= :text AND ${name} < :text || '${end}')` : `instr(${name}, :text) > 0`;
    };
    const from = `FROM :table WHERE ${column} > :above AND ${column} < :below
      AND ${column} NOT IN (SELECT value FROM json_each(:except)) AND (${fields.map(has).join(' OR ')})`;
    const { above, below, limit, skip = 0, backwards, except = [] } = range;
    const asked = { above, below, except: JSON.stringify(except), text };
    const { n } = this.#prepared(`SELECT count(*) AS n ${from}`).get(asked) as { n: number };
    const page = `SELECT id, rev, shape, doc ${from} ORDER BY ${column} ${backwards ? 'DESC, id DESC' : 'ASC, id ASC'} LIMIT :limit OFFSET :skip`;
    if (skip >= n) return { rows: [], total: n };
    const rows = this.#prepared(page).all({ ...asked, limit, skip });
    return { rows: rows as unknown as TableRow[], total: n };
  }

  /** Puts a document in its place, over the one that is there. */
  put(id: string, rev: number, doc: D, standing?: { epoch: number; newest: number }): void {
    const { columns, values } = this.#valuesOf(id, rev, doc);
    const more = standing ? ['epoch', 'newest'] : [];
    const all = [...columns, ...more];
    const set = all.slice(1).map((name) => `${name} = excluded.${name}`);
    const isNewer = standing ? 'WHERE (excluded.epoch, excluded.newest) > (epoch, newest)' : '';
    const sql = `INSERT INTO :table (${all.join(', ')}) VALUES (${all.map(() => '?').join(', ')})
      ON CONFLICT (id) DO UPDATE SET ${set.join(', ')} ${isNewer}`;
    this.#prepared(sql).run(...values, ...(standing ? [standing.epoch, standing.newest] : []));
  }

  remove(id: string): void {
    this.#prepared('DELETE FROM :table WHERE id = ?').run(id);
  }

  /** Takes away so many of a range of ids; tells how many. */
  removeRange(above: string, below: string, limit: number): number {
    const sql =
      'DELETE FROM :table WHERE id IN (SELECT id FROM :table WHERE id > ? AND id < ? ORDER BY id LIMIT ?)';
    return Number(this.#prepared(sql).run(above, below, limit).changes);
  }

  expire(now: number): void {
    this.#prepared('DELETE FROM :table WHERE expires < ?').run(now);
  }

  /** The first unique index in which another document has this one's key. */
  takenBy(id: string, doc: D): string | undefined {
    return this.#indexes.find((index) => {
      const declared = this.collection.indexes?.[index];
      const key = declared?.unique ? declared.key(doc, id) : null;
      if (key === null || key === undefined) return false;
      return this.findBy(index, key).some((row) => row.id !== id);
    });
  }

  #valuesOf(id: string, rev: number, doc: D): { columns: string[]; values: (string | number | null)[] } {
    const { indexes = {}, search = {}, version, expires } = this.collection;
    return {
      columns: [
        ...['id', 'rev', 'shape', 'doc', 'expires'],
        ...this.#indexes.map(keyColumn),
        ...this.#texts.map(textColumn),
      ],
      values: [
        ...[id, rev, version, JSON.stringify(doc), expires?.(doc) ?? null],
        ...this.#indexes.map((index) => indexes[index]?.key(doc, id) ?? null),
        ...this.#texts.map((field) => search[field]?.(doc) ?? ''),
      ],
    };
  }

  #column(index?: string): string {
    if (index === undefined) return 'id';
    if (!this.#indexes.includes(index)) throw new TypeError(`${this.collection.name} has no index ${index}.`);
    return keyColumn(index);
  }

  #text(field: string): string {
    if (!this.#texts.includes(field))
      throw new TypeError(`${this.collection.name} is not searched by ${field}.`);
    return textColumn(field);
  }

  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#db.prepare(sql.replaceAll(':table', tableOf(this.collection.name)));
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

/** Counters on SQLite: a column for each sum, so that adding rewrites no text. */
export class SqliteCounters {
  readonly #fields: readonly string[];
  readonly #add: StatementSync;
  readonly #select: StatementSync;
  readonly #remove: StatementSync;

  constructor(db: DatabaseSync, { name, fields }: Counters) {
    this.#fields = fields;
    const columns = fields.map(keyColumn);
    const sums = columns.map((column) => `${column} = ${column} + excluded.${column}`);
    this.#add = db.prepare(
      `INSERT INTO ${tableOf(name)} (id, ${columns.join(', ')}) VALUES (?${', ?'.repeat(fields.length)})
         ON CONFLICT (id) DO UPDATE SET ${sums.join(', ')}`,
    );
    const named = fields.map((field) => `${keyColumn(field)} AS "${field}"`);
    this.#select = db.prepare(`SELECT ${named.join(', ')} FROM ${tableOf(name)} WHERE id = ?`);
    this.#remove = db.prepare(
      `DELETE FROM ${tableOf(name)} WHERE id IN
         (SELECT id FROM ${tableOf(name)} WHERE id > ? AND id < ? ORDER BY id LIMIT ?)`,
    );
  }

  static statementsOf({ name, fields }: Counters): string[] {
    const columns = fields.map((field) => `${keyColumn(field)} INTEGER NOT NULL`);
    return [
      `CREATE TABLE ${tableOf(name)} (id TEXT NOT NULL PRIMARY KEY, ${columns.join(', ')}) WITHOUT ROWID`,
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

function tableOf(name: string): string {
  return `"d ${name}"`;
}

function keyColumn(index: string): string {
  return `"by ${index}"`;
}

function textColumn(field: string): string {
  return `"text ${field}"`;
}
