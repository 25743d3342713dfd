import { DatabaseSync } from 'node:sqlite';
import type { EventEnvelope } from '@kith/contracts';
import type { AnyCollection, Collection, Counters, Declared } from '../documents/collection.ts';
import { openSqliteDocuments } from '../documents/sqlite-documents.ts';
import { SqliteCounters, SqliteTable, type TableRow } from '../documents/sqlite-table.ts';
import { transaction } from '../drivers/sqlite.ts';
import { readEventText } from '../outbox/event-text.ts';
import { besideKey, eventKey } from '../outbox/outbox.ts';
import type { Copied, ServiceBackup } from './service-backup.ts';
import { flush } from './snapshot-files.ts';

/** A document as it is put into a file. */
export interface Put {
  id: string;
  // biome-ignore lint/suspicious/noExplicitAny: for the reason given at `AnyCollection`.
  doc: any;
  /** For a target: when it was last changed, Unix ms. */
  changed?: number | null;
  /** For a copy: its epoch and the number of its version. */
  epoch?: number;
  newest?: number;
}

/** An event as it is put into a file. */
export interface PutEvent {
  key: string;
  event: string;
  at: number;
  isPublished: boolean;
}

/** Number of documents that are read together. */
const some = 1_000;
/**
 * The `rev` of the document that was stored last. The first `rev` may be any number, because no service has read these
 * documents yet.
 */
let rev = 0;

/** Fills a new database file of a service that is not running. The file can be used only after `close` has returned. */
export class DocumentsFile implements Copied, Disposable {
  readonly #file: string;
  readonly #db: DatabaseSync;
  readonly #tables: ReadonlyMap<string, SqliteTable<unknown>>;
  readonly #counters: ReadonlyMap<string, SqliteCounters>;
  readonly #insertEvent;

  constructor(file: string, { collections, counters = [] }: Declared) {
    // Makes the tables.
    void openSqliteDocuments({ file, collections, counters, synchronous: 'normal' }).close();
    this.#file = file;
    this.#db = new DatabaseSync(file);
    // If the process crashes, the copy starts again from the beginning, so the file need not survive a crash.
    this.#db.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF');
    this.#tables = new Map(collections.map((one) => [one.name, new SqliteTable<unknown>(this.#db, one)]));
    this.#counters = new Map(counters.map((one) => [one.name, new SqliteCounters(this.#db, one)]));
    this.#insertEvent = this.#db.prepare(
      'INSERT INTO events (key, event, at, published) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    );
  }

  /** Does some work in one transaction. */
  together<T>(work: () => T): T {
    return transaction(this.#db, work);
  }

  find<D>(of: Collection<D>, id: string): D | undefined {
    const row = this.#tableOf(of).find(id);
    return row && JSON.parse(row.doc);
  }

  findBy<D>(of: Collection<D>, index: string, key: string): { id: string; doc: D } | undefined {
    const found = this.#tableOf(of).findBy(index, [key])[0];
    return found && read<D>(found.row);
  }

  range<D>(of: Collection<D>, range: { above: string; below: string }): { id: string; doc: D }[] {
    return this.#tableOf(of)
      .range({ ...range, limit: some })
      .map(read<D>);
  }

  /**
   * Stores a document, and overwrites an older one with the same id. If another document already has one of the new document's
   * unique keys, stores nothing and returns the id of that other document.
   */
  put(of: AnyCollection, { id, doc, changed = null, epoch = 0, newest = 0 }: Put): string | undefined {
    const table = this.#tableOf(of);
    if (of.kind === 'copy') return void table.keep(id, ++rev, doc, { epoch, newest });
    const index = of.kind === 'target' ? table.takenBy(id, doc) : undefined;
    if (index === undefined) return void table.put(id, ++rev, doc, changed);
    return table.findBy(index, [of.indexes?.[index]?.key(doc, id) as string])[0]?.row.id;
  }

  remove(of: AnyCollection, id: string): void {
    this.#tableOf(of).remove(id);
  }

  removeRange(of: AnyCollection, { above, below }: { above: string; below: string }): void {
    this.#tableOf(of).removeRange(above, below, -1);
  }

  /** Removes each row that has the same id as a document of the collection `of`. */
  removeThose(rows: AnyCollection, of: AnyCollection): void {
    for (const { name } of [rows, of])
      if (!this.#tables.has(name)) throw new TypeError(`${name} is not in this file.`);
    this.#db.exec(`DELETE FROM "${rows.name}" WHERE id IN (SELECT id FROM "${of.name}")`);
  }

  add({ name }: Counters, id: string, sums: Readonly<Record<string, number>>): void {
    this.#counters.get(name)?.add(id, sums);
  }

  /** Computes the file's counters from its rows (`ServiceBackup.counted`). */
  sumUp({ counted = [] }: Pick<ServiceBackup, 'counted'>): void {
    for (const { rows, counters, add } of counted) {
      for (const some of this.documents(rows)) {
        this.together(() => {
          for (const row of some) {
            const { id, add: sums } = add(row);
            this.add(counters, id, sums);
          }
        });
      }
    }
  }

  putEvent({ key, event, at, isPublished }: PutEvent): void {
    this.#insertEvent.run(key, event, at, isPublished ? 1 : 0);
  }

  /** Marks an event as unpublished. Stores the event if the file does not have it. */
  unpublish(event: EventEnvelope): void {
    const keys = [eventKey(event), besideKey(event)] as const;
    const found = keys.find((key) => this.#eventIdAt(key) === event.id);
    if (found) {
      this.#db.prepare('UPDATE events SET published = 0 WHERE key = ?').run(found);
      return;
    }
    const [usual, beside] = keys;
    const key = this.#eventIdAt(usual) === undefined ? usual : beside;
    // For imported data, `occurredAt` may lie in the future. Such an event gets the present time.
    const at = Math.min(Date.parse(event.occurredAt), Date.now());
    this.putEvent({ key, event: JSON.stringify(event), at, isPublished: false });
  }

  #eventIdAt(key: string): string | undefined {
    const row = this.#db.prepare('SELECT event FROM events WHERE key = ?').get(key);
    return row && readEventText(row.event as string).event.id;
  }

  /** All events in the order of their keys, in batches. */
  *events(): Generator<{ key: string; event: string }[]> {
    const next = this.#db.prepare(`SELECT key, event FROM events WHERE key > ? ORDER BY key LIMIT ${some}`);
    for (let after = ''; ; ) {
      const rows = next.all(after) as { key: string; event: string }[];
      const last = rows.at(-1);
      if (!last) return;
      yield rows;
      after = last.key;
    }
  }

  removeEvents(keys: readonly string[]): void {
    const remove = this.#db.prepare('DELETE FROM events WHERE key = ?');
    for (const key of keys) remove.run(key);
  }

  /** All documents of a collection in the order of their ids, in batches. */
  *documents(of: AnyCollection): Generator<{ id: string; doc: unknown }[]> {
    const table = this.#tableOf(of);
    for (let above = ''; ; ) {
      const rows = table.range({ above, below: '~', limit: some });
      const last = rows.at(-1);
      if (!last) return;
      yield rows.map(read);
      above = last.id;
    }
  }

  count(of: AnyCollection): number {
    return this.#tableOf(of).count({ above: '', below: '~' });
  }

  noteFact(name: string, value: unknown): void {
    const note = this.#db.prepare('INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)');
    note.run(name, JSON.stringify(value));
  }

  /** Closes the file. Afterwards, the whole file is on the disk. */
  close(): void {
    this.#db.exec('PRAGMA journal_mode = WAL');
    this.#db.close();
    flush(this.#file);
  }

  [Symbol.dispose](): void {
    if (this.#db.isOpen) this.#db.close();
  }

  #tableOf({ name }: AnyCollection): SqliteTable<unknown> {
    const table = this.#tables.get(name);
    if (!table) throw new TypeError(`${name} is not one of this file's collections.`);
    return table;
  }
}

function read<D>({ id, doc }: TableRow): { id: string; doc: D } {
  return { id, doc: JSON.parse(doc) };
}
