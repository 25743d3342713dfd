import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { EventEnvelope } from '@kith/contracts';
import { transaction } from '../store/sqlite.ts';
import { eventText, readEventText } from './event-text.ts';
import {
  type EventRange,
  eventKey,
  type Outbox,
  type Past,
  type PublishedEvent,
  type StoredEvent,
} from './outbox.ts';

/** The table of a service's events; part of the service's first migration. */
export const sqliteEventsTable = `
  CREATE TABLE events (
    key TEXT PRIMARY KEY, event TEXT NOT NULL, at INTEGER NOT NULL, published INTEGER NOT NULL DEFAULT 0
  ) WITHOUT ROWID;
  CREATE INDEX events_unpublished ON events (at) WHERE published = 0;`;
const keepMs = 7 * 24 * 3600 * 1000;

/**
 * The outbox on SQLite: a row an event, written in the transaction of its change, kept for 7 days. It keeps no spans:
 * the event log that goes with it finds events by their ids.
 */
export class SqliteOutbox implements Outbox {
  readonly #db: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #select: StatementSync;
  readonly #mark: StatementSync;
  readonly #published: StatementSync;
  readonly #amend: StatementSync;
  readonly #forget: StatementSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#insert = db.prepare('INSERT INTO events (key, event, at) VALUES (?, ?, ?)');
    this.#select = db.prepare(
      `SELECT key, event, at FROM events WHERE published = 0 AND at >= ?
         AND key NOT IN (SELECT value FROM json_each(?)) ORDER BY at LIMIT ?`,
    );
    this.#mark = db.prepare('UPDATE events SET published = 1 WHERE key = ?');
    this.#published = db.prepare(
      `SELECT key, event, at FROM events
         WHERE key > ? AND key < ? AND published = 1 AND instr(event, ?) > 0 ORDER BY key LIMIT ?`,
    );
    this.#amend = db.prepare('UPDATE events SET event = ? WHERE key = ?');
    this.#forget = db.prepare('DELETE FROM events WHERE key = ? AND published = 1');
    db.prepare('DELETE FROM events WHERE published = 1 AND at < ?').run(Date.now() - keepMs);
  }

  /** Stores an event; call it inside the transaction of the change. */
  add(event: EventEnvelope): void {
    this.#insert.run(eventKey(event), eventText(event), Date.parse(event.occurredAt));
  }

  async unpublished(limit: number, { at, keys }: Past = { at: 0, keys: [] }): Promise<StoredEvent[]> {
    return this.#select.all(at, JSON.stringify(keys), limit).map(storedOf);
  }

  async markPublished(keys: readonly string[]): Promise<void> {
    transaction(this.#db, () => {
      for (const key of keys) this.#mark.run(key);
    });
  }

  async published({ from, to, telling = '' }: EventRange, limit: number): Promise<PublishedEvent[]> {
    return this.#published.all(from, to, telling, limit).map(storedOf);
  }

  async amend(key: string, event: EventEnvelope): Promise<void> {
    this.#amend.run(JSON.stringify(event), key);
  }

  async forget(keys: readonly string[]): Promise<void> {
    for (const key of keys) this.#forget.run(key);
  }
}

function storedOf(row: object): StoredEvent {
  const { key, event, at } = row as { key: string; event: string; at: number };
  return { key, ...readEventText(event), at };
}
