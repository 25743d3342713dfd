import { readdirSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { StartError } from '@kith/base';
import type { EventEnvelope } from '@kith/contracts';
import { eventKey } from '@kith/store';
import { type MovedRow, type MovedTable, movedEvents, type ServiceMove } from '@kith/store/open';
import type { DataFolder } from '../../forms/data-folder.ts';
import { serviceOfEvent } from '../../services.ts';
import { requireInstallation } from '../data-folder.ts';

const batch = 500;

type MovedDocument = ReturnType<MovedTable['document']>;

/** Reads an embedded installation's data, without changing it. */
export class Source {
  readonly #folder: DataFolder;
  /** Events that a consumer has given up, by service and key. They are published again from the new databases. */
  readonly #dead = new Map<string, Map<string, EventEnvelope>>();

  constructor(folder: DataFolder) {
    this.#folder = folder;
    using log = this.#open('events');
    for (const { body } of log.prepare('SELECT body FROM dead_letters ORDER BY at').all()) {
      const event = JSON.parse(new TextDecoder().decode(body as Uint8Array)) as EventEnvelope;
      const service = serviceOfEvent(event);
      if (!service) throw new Error(`No service owns events of the type ${event.type}.`);
      const events = this.#dead.get(service) ?? new Map<string, EventEnvelope>();
      this.#dead.set(service, events.set(eventKey(event), event));
    }
  }

  /** Throws `StartError` if the service has a table that the distributed form does not have. */
  check({ service, tables }: ServiceMove): void {
    using db = this.#open(service);
    // Two tables are not moved. `installation` names the folder that a file belongs to (docs/adr/0031), and `marks` refers to the
    // log, which stays behind.
    const known = new Set(['installation', 'marks', ...tables.map(({ table }) => table)]);
    const stored = db.prepare(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`,
    );
    const unknown = stored.all().find(({ name }) => !known.has(name as string));
    if (unknown)
      throw new StartError(
        `The table "${unknown.name}" of the database ${service}.sqlite cannot be moved by this version.`,
      );
  }

  /** The documents of a table in batches, in the order of their keys. If `after` is given, begins after this key. */
  *documents(
    { service }: ServiceMove,
    { table, key, document }: MovedTable,
    after?: readonly SQLInputValue[],
  ): Generator<{ documents: MovedDocument[]; last: SQLInputValue[] }> {
    using db = this.#open(service);
    const order = key.join(', ');
    const marks = key.map(() => '?').join(', ');
    const first = db.prepare(`SELECT * FROM ${table} ORDER BY ${order} LIMIT ${batch}`);
    const next = db.prepare(
      `SELECT * FROM ${table} WHERE (${order}) > (${marks}) ORDER BY ${order} LIMIT ${batch}`,
    );
    const isEvents = table === movedEvents.table;
    for (let from = after; ; ) {
      const rows: MovedRow[] = from ? next.all(...from) : first.all();
      const lastRow = rows.at(-1);
      if (!lastRow) return;
      const documents = rows.map((row) => document(isEvents ? this.#revived(service, row) : row));
      from = key.map((column) => lastRow[column] as SQLInputValue);
      yield { documents, last: from as SQLInputValue[] };
    }
  }

  /** Events that a consumer has given up, and that are no longer in the table `events` of the service. */
  deadBeyond({ service }: ServiceMove): MovedDocument[] {
    using db = this.#open(service);
    const isThere = db.prepare('SELECT 1 FROM events WHERE key = ?');
    const dead = [...(this.#dead.get(service) ?? [])].filter(([key]) => !isThere.get(key));
    return dead.map(([key, event]) =>
      movedEvents.document({
        key,
        event: JSON.stringify(event),
        at: Date.parse(event.occurredAt),
        published: 0,
      }),
    );
  }

  #revived(service: string, row: MovedRow): MovedRow {
    return this.#dead.get(service)?.has(row.key) ? { ...row, published: 0 } : row;
  }

  #open(name: string): DatabaseSync {
    return new DatabaseSync(this.#folder.file(`${name}.sqlite`), { readOnly: true });
  }
}

/** Throws `StartError` if a folder holds no installation, or data of services that cannot be moved. */
export function checkFolder(path: string, moves: readonly ServiceMove[]): void {
  const known = ['events', 'lock', ...moves.map(({ service }) => service)];
  requireInstallation(path);
  const unknown = readdirSync(path).find(
    (file) => file.endsWith('.sqlite') && !known.includes(file.replace('.sqlite', '')),
  );
  if (unknown) throw new StartError(`${unknown} cannot be moved by this version.`);
}
