import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EventEnvelope } from '@kith/contracts';
import type { Span } from '../bus/bus.ts';
import { lightTransaction, transaction } from '../store/sqlite.ts';
import { SqliteProgress } from '../store/sqlite-progress.ts';
import { eventText, readEventText } from './event-text.ts';
import {
  type EventRange,
  eventKey,
  type Facts,
  type Outbox,
  type Past,
  type PublishedEvent,
  restatedKey,
  type StoredEvent,
  unpublishStep,
} from './outbox.ts';

/** The table of a service's events; part of the service's first migration. */
export const sqliteEventsTable = `
  CREATE TABLE events (
    key TEXT PRIMARY KEY, event TEXT NOT NULL, at INTEGER NOT NULL, published INTEGER NOT NULL DEFAULT 0
  ) WITHOUT ROWID;
  CREATE INDEX events_unpublished ON events (at) WHERE published = 0;`;
/**
 * What positions need: `published` holds that on the bus, -1 where it is not known, 0 while the event is not out. Also the
 * table of facts that a store keeps of itself. Part of a later migration.
 */
export const sqlitePositions = `
  UPDATE events SET published = -1 WHERE published = 1;
  CREATE INDEX events_position ON events (published) WHERE published > 0;
  CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;`;
const keepMs = 7 * 24 * 3600 * 1000;
const expireEveryMs = 3600 * 1000;

/**
 * The outbox on SQLite: a row an event, written in the transaction of its change, kept for 7 days. It keeps no spans:
 * the event log that goes with it finds events by their ids.
 */
export class SqliteOutbox implements Outbox {
  readonly progress: SqliteProgress;
  readonly #db: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #select: StatementSync;
  readonly #mark: StatementSync;
  readonly #published: StatementSync;
  readonly #amend: StatementSync;
  readonly #forget: StatementSync;
  readonly #highest: StatementSync;
  readonly #at: StatementSync;
  readonly #step: StatementSync;
  readonly #unmark: StatementSync;
  #expiredAt = 0;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.progress = new SqliteProgress(db);
    this.#insert = db.prepare('INSERT INTO events (key, event, at) VALUES (?, ?, ?)');
    this.#select = db.prepare(
      `SELECT key, event, at FROM events WHERE published = 0 AND at >= ?
         AND key NOT IN (SELECT value FROM json_each(?)) ORDER BY at LIMIT ?`,
    );
    this.#mark = db.prepare('UPDATE events SET published = ? WHERE key = ?');
    this.#published = db.prepare(
      `SELECT key, event, at FROM events
         WHERE key > ? AND key < ? AND published <> 0 AND instr(event, ?) > 0 ORDER BY key LIMIT ?`,
    );
    this.#amend = db.prepare('UPDATE events SET event = ?, published = ? WHERE key = ?');
    this.#forget = db.prepare('DELETE FROM events WHERE key = ? AND published <> 0');
    this.#highest = db.prepare(
      'SELECT published AS position FROM events WHERE published > 0 AND published < ? ORDER BY published DESC LIMIT 1',
    );
    this.#at = db.prepare('SELECT event FROM events WHERE published > 0 AND published = ?');
    this.#step = db.prepare(
      `SELECT min(published) AS lowest FROM (SELECT published FROM events
         WHERE published > 0 AND published > ? AND published < ? ORDER BY published DESC LIMIT ${unpublishStep})`,
    );
    this.#unmark = db.prepare(
      'UPDATE events SET published = 0 WHERE published > 0 AND published >= ? AND published < ?',
    );
    this.#expire();
  }

  /** Stores an event; call it inside the transaction of the change. */
  add(event: EventEnvelope): void {
    this.#insert.run(eventKey(event), eventText(event), Date.parse(event.occurredAt));
  }

  async unpublished(limit: number, { at, keys }: Past = { at: 0, keys: [] }): Promise<StoredEvent[]> {
    return this.#select.all(at, JSON.stringify(keys), limit).map(storedOf);
  }

  async markPublished(keys: readonly string[], span?: Span): Promise<void> {
    lightTransaction(this.#db, () => {
      for (const key of keys) this.#mark.run(span?.last ?? -1, key);
    });
    if (Date.now() - this.#expiredAt > expireEveryMs) this.#expire();
  }

  async published({ from, to, telling = '' }: EventRange, limit: number): Promise<PublishedEvent[]> {
    return this.#published.all(from, to, telling, limit).map(storedOf);
  }

  async amend(key: string, event: EventEnvelope, position: number): Promise<void> {
    this.#amend.run(JSON.stringify(event), position, key);
  }

  async forget(keys: readonly string[]): Promise<void> {
    for (const key of keys) this.#forget.run(key);
  }

  async newest(below = Number.MAX_SAFE_INTEGER): Promise<{ position: number; ids: string[] } | undefined> {
    const position = this.#highest.get(below)?.position as number | undefined;
    if (position === undefined) return undefined;
    const rows = this.#at.all(position) as { event: string }[];
    return { position, ids: rows.map(({ event }) => readEventText(event).event.id) };
  }

  async unpublish(after: number): Promise<void> {
    // Downwards, as in `MongoOutbox`.
    for (let below = Number.MAX_SAFE_INTEGER; ; await nextTurn()) {
      const lowest = this.#step.get(after, below)?.lowest as number | null;
      if (lowest === null) return;
      this.#unmark.run(lowest, below);
      below = lowest;
    }
  }

  async restate(events: readonly EventEnvelope[], epoch: number): Promise<void> {
    const put = this.#db.prepare(
      'INSERT INTO events (key, event, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    );
    transaction(this.#db, () => {
      for (const event of events) put.run(restatedKey(event, epoch), eventText(event), Date.now());
    });
  }

  async fact<K extends keyof Facts>(name: K): Promise<Facts[K] | undefined> {
    const value = this.#db.prepare('SELECT value FROM facts WHERE name = ?').get(name)?.value;
    return value === undefined ? undefined : JSON.parse(value as string);
  }

  async noteFact<K extends keyof Facts>(name: K, value: Facts[K]): Promise<void> {
    const put = this.#db.prepare('INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)');
    put.run(name, JSON.stringify(value));
  }

  #expire(): void {
    this.#expiredAt = Date.now();
    this.#db.prepare('DELETE FROM events WHERE published <> 0 AND at < ?').run(this.#expiredAt - keepMs);
  }
}

function storedOf(row: object): StoredEvent {
  const { key, event, at } = row as { key: string; event: string; at: number };
  return { key, ...readEventText(event), at };
}
