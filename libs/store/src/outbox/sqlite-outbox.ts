import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { clocksMs } from '@kith/base';
import type { EventEnvelope } from '@kith/contracts';
import { lightTransaction, transaction } from '../drivers/sqlite.ts';
import { eventText, readEventText } from './event-text.ts';
import {
  besideKey,
  type Copies,
  type EventRange,
  type EventSearch,
  eventKey,
  firstByKey,
  type Outbox,
  type Past,
  type PublishedEvent,
  type StoredEvent,
  searchInSteps,
} from './outbox.ts';
import { SqliteFacts } from './sqlite-facts.ts';
import { SqliteProgress } from './sqlite-progress.ts';

const eventsTable = `
  CREATE TABLE events (
    key TEXT PRIMARY KEY, event TEXT NOT NULL, at INTEGER NOT NULL, published INTEGER NOT NULL DEFAULT 0
  ) WITHOUT ROWID;
  CREATE INDEX events_unpublished ON events (at) WHERE published = 0;`;
/** The tables for the positions of published batches, and for a store's facts about itself. */
const marksTables = `
  CREATE TABLE marks (position INTEGER PRIMARY KEY, id TEXT NOT NULL, keys TEXT NOT NULL, at INTEGER NOT NULL);
  CREATE INDEX marks_at ON marks (at);
  CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;`;
const publishedIndex = 'CREATE INDEX events_published ON events (at) WHERE published = 1;';
/**
 * Adds a column for the position of the mark that holds the event's key; NULL if no mark holds it. Earlier versions could leave
 * a key in two marks, so the script keeps the key only in the mark with the higher position.
 */
const markColumn = `
  ALTER TABLE events ADD COLUMN mark INTEGER;
  UPDATE events SET mark = marked.position
    FROM (SELECT max(position) AS position, value AS key FROM marks, json_each(keys) GROUP BY value) marked
    WHERE events.key = marked.key;
  UPDATE marks SET keys = (SELECT json_group_array(value) FROM json_each(marks.keys)
    WHERE EXISTS (SELECT 1 FROM events WHERE key = value AND mark = marks.position));`;

/** The tables of an outbox, and later additions to them. If a file lacks a part, this part is made. */
export const sqliteOutboxParts = [
  { name: 'events', statements: [eventsTable, marksTables] },
  { name: 'events by time', statements: [publishedIndex] },
  { name: 'marks of events', statements: [markColumn] },
] as const;
/** The statements that make the tables of an outbox, in the order in which they must run. */
export const sqliteOutboxTables: readonly string[] = sqliteOutboxParts.flatMap((part) => part.statements);
const keepMs = 7 * 24 * 3600 * 1000;
const expireEveryMs = 3600 * 1000;
/** How many rows one statement reads or removes. This takes a few ms, and no request is served meanwhile. */
const stepLength = 1_000;

/**
 * The outbox on SQLite. Each event is a row that is written in the transaction of its change, and kept for 7 days after it was
 * published. This outbox keeps no spans, because the event log of the embedded form finds events by their ids.
 */
export class SqliteOutbox extends SqliteFacts implements Outbox {
  readonly progress: SqliteProgress;
  readonly #db: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #select: StatementSync;
  readonly #mark: StatementSync;
  readonly #published: StatementSync;
  readonly #stepEnd: StatementSync;
  readonly #oldest: StatementSync;
  readonly #holds: StatementSync;
  readonly #holdsWaiting: StatementSync;
  readonly #amend: StatementSync;
  readonly #forget: StatementSync;
  readonly #highest: StatementSync;
  readonly #note: StatementSync;
  readonly #unmark: StatementSync;
  readonly #forgetMarks: StatementSync;
  readonly #leaveOut: StatementSync;
  #expiredAt = 0;

  constructor(db: DatabaseSync) {
    super(db);
    this.#db = db;
    this.progress = new SqliteProgress(db);
    this.#insert = db.prepare('INSERT INTO events (key, event, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
    this.#select = db.prepare(
      `SELECT key, event, at FROM events WHERE published = 0 AND at >= ?
         AND key NOT IN (SELECT value FROM json_each(?)) ORDER BY at LIMIT ?`,
    );
    // The log keeps an event for a week after its publication, and the outbox keeps its record of the event for the same time.
    // So once an event is published, `at` is the time of its publication.
    this.#mark = db.prepare('UPDATE events SET published = 1, mark = ?, at = ? WHERE key = ?');
    this.#published = db.prepare(
      `SELECT key, event, at FROM
         (SELECT * FROM events WHERE key > ? AND key < ? ORDER BY key LIMIT ${stepLength})
         WHERE published = 1 AND instr(event, ?) > 0 LIMIT ?`,
    );
    this.#stepEnd = db.prepare(
      `SELECT key FROM events WHERE key > ? AND key < ? ORDER BY key LIMIT 1 OFFSET ${stepLength - 1}`,
    );
    this.#oldest = db.prepare('SELECT min(at) AS at FROM events WHERE published = 0');
    this.#holds = db.prepare(
      'SELECT 1 FROM events WHERE key > ? AND key < ? AND instr(event, ?) > 0 AND published <= ? LIMIT 1',
    );
    // For a wide range: reads only the events that are not published yet. There are few of these.
    this.#holdsWaiting = db.prepare(
      `SELECT 1 FROM events INDEXED BY events_unpublished
         WHERE published = 0 AND key > ? AND key < ? AND instr(event, ?) > 0 LIMIT 1`,
    );
    this.#amend = db.prepare('UPDATE events SET event = ?, mark = ?, at = ? WHERE key = ?');
    this.#forget = db.prepare('DELETE FROM events WHERE key = ? AND published = 1');
    this.#note = db.prepare(
      `INSERT INTO marks (position, id, keys, at) VALUES (?, ?, ?, ?) ON CONFLICT (position) DO UPDATE SET
         id = excluded.id, at = excluded.at, keys = (SELECT json_group_array(value) FROM (
           SELECT value FROM json_each(marks.keys) UNION SELECT value FROM json_each(excluded.keys)))`,
    );
    this.#highest = db.prepare(
      'SELECT position, id FROM marks WHERE position > ? AND position < ? ORDER BY position DESC LIMIT 1',
    );
    this.#unmark = db.prepare(
      `UPDATE events SET published = 0, mark = NULL WHERE key IN
         (SELECT value FROM marks, json_each(keys) WHERE position > ? AND position <= ?)`,
    );
    this.#leaveOut = db.prepare(
      `WITH gone AS (SELECT value FROM json_each(?))
       UPDATE marks SET keys = (SELECT json_group_array(value) FROM json_each(marks.keys) WHERE value NOT IN gone)
        WHERE position IN (SELECT mark FROM events WHERE key IN gone)`,
    );
    this.#forgetMarks = db.prepare('DELETE FROM marks WHERE position > ? AND position <= ?');
  }

  /** Stores an event; call it inside the transaction of the change. */
  add(event: EventEnvelope): void {
    // Uses the current time, not `occurredAt`, which may lie in the future for imported data. The event would then be kept too
    // long.
    const stored = [eventText(event), Date.now()] as const;
    if (this.#insert.run(eventKey(event), ...stored).changes === 1) return;
    // For example, a late request can store an aggregate of an erased user again. The numbers (`seq`) of this aggregate then
    // begin at 1 again, although the last event before the erasure is still kept.
    this.#insert.run(besideKey(event), ...stored);
  }

  async unpublished(limit: number, { at, keys }: Past = { at: 0, keys: [] }): Promise<StoredEvent[]> {
    return this.#select.all(at, JSON.stringify(keys), limit).map(storedOf);
  }

  async markPublished(keys: readonly string[], copies?: Copies): Promise<void> {
    lightTransaction(this.#db, () => {
      if (copies) this.#note.run(copies.last, copies.id, JSON.stringify(keys), Date.now());
      for (const key of keys) this.#mark.run(copies?.last ?? null, Date.now(), key);
    });
  }

  async published({ from, to, telling = '', since }: EventSearch, limit: number): Promise<PublishedEvent[]> {
    if (since !== undefined) return this.#publishedSince(since, { from, to, telling }, limit);
    return searchInSteps(from, limit, (after, most) => {
      const found = this.#published.all(after, to, telling, most).map(storedOf);
      const next = found.length < most ? this.#stepEnd.get(after, to)?.key : undefined;
      return { found, next: next as string | undefined };
    });
  }

  async horizon(): Promise<number> {
    // A search finds events by `at`, which is the time of the publication. But if an earlier version of Kith publishes an
    // event, `at` stays the time at which the event was stored. So the horizon is not later than the time of any event that is
    // not published yet.
    const oldest = (this.#oldest.get()?.at ?? Number.POSITIVE_INFINITY) as number;
    return Math.min(oldest, Date.now() - clocksMs);
  }

  async #publishedSince(
    since: number,
    { from, to, telling }: Required<EventRange>,
    limit: number,
  ): Promise<PublishedEvent[]> {
    const select = this.#db.prepare(
      `SELECT key, event, at FROM events INDEXED BY events_published
         WHERE published = 1 AND at >= ? AND at < ? AND key > ? AND key < ? AND instr(event, ?) > 0`,
    );
    const stepEnd = this.#db.prepare(
      `SELECT at + 1 AS next FROM events INDEXED BY events_published
         WHERE published = 1 AND at >= ? ORDER BY at LIMIT 1 OFFSET ${stepLength - 1}`,
    );
    const found = await searchInSteps(since, Number.POSITIVE_INFINITY, (at) => {
      // Events that were stored in the same ms belong to the same step.
      const next = stepEnd.get(at)?.next as number | undefined;
      const rows = select.all(at, next ?? Number.MAX_SAFE_INTEGER, from, to, telling);
      return { found: rows.map(storedOf), next };
    });
    return firstByKey(found, limit);
  }

  async holds(
    { from, to, telling }: EventRange,
    { unpublished }: { unpublished?: true } = {},
  ): Promise<boolean> {
    if (unpublished && telling !== undefined) return this.#holdsWaiting.get(from, to, telling) !== undefined;
    return this.#holds.get(from, to, telling ?? '', unpublished ? 0 : 1) !== undefined;
  }

  async amend(key: string, event: EventEnvelope, position: number): Promise<void> {
    transaction(this.#db, () => {
      this.#leaveOut.run(JSON.stringify([key]));
      this.#note.run(position, event.id, JSON.stringify([key]), Date.now());
      this.#amend.run(JSON.stringify(event), position, Date.now(), key);
    });
  }

  /** Does nothing: SQLite loses no acknowledged change, so no event is reported as a conflict. */
  async noteEnd(_key: string): Promise<void> {}

  async forget(keys: readonly string[]): Promise<void> {
    transaction(this.#db, () => {
      // Removes the keys from the batches, because a key names the person that its event is about.
      this.#leaveOut.run(JSON.stringify(keys));
      for (const key of keys) this.#forget.run(key);
    });
  }

  async newest(
    above: number,
    below = Number.MAX_SAFE_INTEGER,
  ): Promise<{ position: number; id: string } | undefined> {
    return this.#highest.get(above, below) as { position: number; id: string } | undefined;
  }

  async unpublish(after: number, upTo: number): Promise<void> {
    transaction(this.#db, () => {
      this.#unmark.run(after, upTo);
      this.#forgetMarks.run(after, upTo);
    });
  }

  async restate(events: readonly EventEnvelope[]): Promise<void> {
    transaction(this.#db, () => {
      for (const event of events) this.#insert.run(besideKey(event), eventText(event), Date.now());
    });
  }

  /** Removes old events and marks, in steps, at most once an hour. If it fails, the next call tries again. */
  async expire(): Promise<void> {
    const now = Date.now();
    if (now - this.#expiredAt < expireEveryMs) return;
    for (const sql of [
      `DELETE FROM events WHERE key IN (SELECT key FROM events INDEXED BY events_published
         WHERE published = 1 AND at < ? LIMIT ${stepLength})`,
      `DELETE FROM marks WHERE position IN (SELECT position FROM marks WHERE at < ? LIMIT ${stepLength})`,
    ]) {
      const remove = this.#db.prepare(sql);
      const step = () => lightTransaction(this.#db, () => remove.run(now - keepMs).changes);
      while (step() === stepLength) await nextTurn();
    }
    this.#expiredAt = now;
  }
}

function storedOf(row: object): StoredEvent {
  const { key, event, at } = row as { key: string; event: string; at: number };
  return { key, ...readEventText(event), at };
}
