import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { EventEnvelope } from '@kith/contracts';
import { eventKey, type Outbox, type StoredEvent } from './outbox.ts';

/** The table of a service's events; part of the service's first migration. */
export const sqliteEventsTable = `
  CREATE TABLE events (
    key TEXT PRIMARY KEY, event TEXT NOT NULL, at INTEGER NOT NULL, published INTEGER NOT NULL DEFAULT 0
  ) WITHOUT ROWID;
  CREATE INDEX events_unpublished ON events (at) WHERE published = 0;`;
const keepMs = 7 * 24 * 3600 * 1000;

/** The outbox on SQLite: a row an event, written in the transaction of its change, kept for 7 days. */
export class SqliteOutbox implements Outbox {
  readonly #insert: StatementSync;
  readonly #select: StatementSync;
  readonly #mark: StatementSync;

  constructor(db: DatabaseSync) {
    this.#insert = db.prepare('INSERT INTO events (key, event, at) VALUES (?, ?, ?)');
    this.#select = db.prepare('SELECT key, event FROM events WHERE published = 0 ORDER BY at LIMIT ?');
    this.#mark = db.prepare('UPDATE events SET published = 1 WHERE key = ?');
    db.prepare('DELETE FROM events WHERE published = 1 AND at < ?').run(Date.now() - keepMs);
  }

  /** Stores an event; call it inside the transaction of the change. */
  add(event: EventEnvelope): void {
    this.#insert.run(eventKey(event), JSON.stringify(event), Date.parse(event.occurredAt));
  }

  async unpublished(limit: number): Promise<StoredEvent[]> {
    const rows = this.#select.all(limit) as { key: string; event: string }[];
    return rows.map(({ key, event }) => ({ key, event: JSON.parse(event) as EventEnvelope }));
  }

  async markPublished(keys: readonly string[]): Promise<void> {
    for (const key of keys) this.#mark.run(key);
  }
}
