import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openSqlite, syncedTransaction, transaction } from '@kith/store/sqlite';
import type { Logger } from 'pino';
import {
  type Backlog,
  type ConsumeOptions,
  type DeadLetter,
  type Delivery,
  type EventLogState,
  type Intake,
  type OutgoingEvent,
  originalId,
  replayedId,
} from './bus.ts';
import { LogConsumer } from './log-consumer.ts';

const schema = [
  `CREATE TABLE events (
     position INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, subject TEXT NOT NULL,
     body BLOB NOT NULL, at INTEGER NOT NULL);
   CREATE INDEX events_at ON events (at);
   CREATE TABLE consumers (durable TEXT PRIMARY KEY, position INTEGER NOT NULL) WITHOUT ROWID;
   CREATE TABLE redeliveries (
     durable TEXT NOT NULL, position INTEGER NOT NULL, failures INTEGER NOT NULL, due INTEGER NOT NULL,
     PRIMARY KEY (durable, position)) WITHOUT ROWID;
   CREATE TABLE dead_letters (
     durable TEXT NOT NULL, id TEXT NOT NULL, subject TEXT NOT NULL, body BLOB NOT NULL, error TEXT NOT NULL,
     at INTEGER NOT NULL, PRIMARY KEY (durable, id)) WITHOUT ROWID;`,
  // trying: the position of the event whose current attempt has not ended.
  'ALTER TABLE consumers ADD COLUMN trying INTEGER',
  'ALTER TABLE events ADD COLUMN traceparent TEXT',
  // id: unique to this log.
  `CREATE TABLE log (id TEXT NOT NULL);
   INSERT INTO log (id) VALUES (lower(hex(randomblob(16))));`,
  'ALTER TABLE consumers ADD COLUMN noted INTEGER NOT NULL DEFAULT 0',
  'CREATE INDEX dead_letters_id ON dead_letters (id)',
];
const keepMs = 7 * 24 * 3600 * 1000;
/** How long dead letters are kept, as on NATS. */
const keepDeadMs = 90 * 24 * 3600 * 1000;
const expireEveryMs = 3600 * 1000;
/** How many old events are removed at a time. Requests are handled in between. */
const stepLength = 1_000;
/**
 * A condition for all copies of an event. The id of a replayed event is the original id, then `~` and a suffix. Character 126
 * is `~`, and 127 is the next character. So the condition finds every id that begins with the original id and `~`.
 */
const copies = 'id = :id OR (id > :id || char(126) AND id < :id || char(127))';

/**
 * The event log of the embedded form. All events are in one table. Each durable consumer has its own position, retries and dead
 * letters. A consumer that cannot apply an event therefore does not stop other consumers (docs/adr/0001).
 */
export class EventLog {
  readonly #db: DatabaseSync;
  readonly #log: Logger;
  readonly #insert: StatementSync;
  readonly #durables: readonly string[] | undefined;
  readonly #consumers = new Map<string, LogConsumer>();
  readonly #expiry: NodeJS.Timeout;
  #expiring: Promise<void> | undefined;
  #isClosing = false;

  /**
   * @param options.prefix The prefix of all subjects. Events in the log whose subjects have another prefix are changed to this
   * prefix.
   * @param options.durables The durables of all services, if they are known. After seven days, an event stays in the log only
   * if one of these durables still needs it.
   * @param options.expireEveryMs How often events that are older than seven days are looked for and removed.
   */
  constructor(options: {
    prefix: string;
    file: string;
    log: Logger;
    durables?: readonly string[] | undefined;
    expireEveryMs?: number;
  }) {
    // With `normal`, the newest events may be lost if the machine crashes. The services then publish these events again from
    // their databases.
    this.#db = openSqlite({ file: options.file, migrations: schema, synchronous: 'normal' });
    this.#log = options.log;
    this.#durables = options.durables;
    this.#insert = this.#db.prepare(
      `INSERT INTO events (id, subject, body, at, traceparent) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (id) DO NOTHING`,
    );
    this.#rename(options.prefix);
    this.#startExpiry();
    this.#expiry = setInterval(() => this.#startExpiry(), options.expireEveryMs ?? expireEveryMs);
    this.#expiry.unref();
  }

  /**
   * Gives all subjects the platform's prefix. The log may have been copied or restored from a platform with another prefix, and
   * consumers would skip events with that prefix.
   */
  #rename(prefix: string): void {
    const isOther = `subject NOT GLOB '${prefix}.*'`;
    const other = this.#db.prepare(
      `SELECT 1 FROM events WHERE ${isOther} AND position IN
         (SELECT min(position) FROM events UNION ALL SELECT max(position) FROM events)
       UNION ALL SELECT 1 FROM dead_letters WHERE ${isOther} LIMIT 1`,
    );
    if (!other.get()) return;
    const renamed = `SET subject = '${prefix}' || substr(subject, instr(subject, '.')) WHERE ${isOther}`;
    transaction(this.#db, () => {
      for (const table of ['events', 'dead_letters']) this.#db.exec(`UPDATE ${table} ${renamed}`);
    });
  }

  /**
   * Stores an event and returns its position. If the log already has an event with this id, returns the position of that event.
   */
  append(event: OutgoingEvent): number {
    return this.appendAll([event])[0] as number;
  }

  /**
   * Appends several events and returns their positions. Uses one transaction, because one transaction for each event would take
   * longer.
   */
  appendAll(events: readonly OutgoingEvent[]): number[] {
    const positions = transaction(this.#db, () => events.map((event) => this.#store(event)));
    for (const consumer of this.#consumers.values()) consumer.wake();
    return positions;
  }

  #store({ id, subject, body, traceparent }: OutgoingEvent): number {
    const { changes, lastInsertRowid } = this.#insert.run(id, subject, body, Date.now(), traceparent ?? null);
    if (changes > 0) return Number(lastInsertRowid);
    return Number(this.#db.prepare('SELECT position FROM events WHERE id = ?').get(id)?.position);
  }

  /** Identifies this log and gives the range of its positions. */
  state(): EventLogState {
    const state = this.#db.prepare(
      `SELECT id AS created, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0) AS last,
         (SELECT min(position) FROM events) AS first FROM log`,
    );
    const { created, first, last } = state.get() as { created: string; first: number | null; last: number };
    return { created, first: first ?? last + 1, last, keepsUnheard: true };
  }

  /** The id that the event at a position had when it was first published. */
  idAt(position: number): string | undefined {
    const row = this.#db.prepare('SELECT id FROM events WHERE position = ?').get(position);
    return row && originalId(row.id as string);
  }

  /** Removes events by their ids, including replayed copies and dead letters. */
  withdraw(ids: readonly string[]): void {
    if (ids.length === 0) return;
    const remove = this.#db.prepare(`DELETE FROM events WHERE ${copies} RETURNING position`);
    const forget = this.#db.prepare('DELETE FROM redeliveries WHERE position = ?');
    const bury = this.#db.prepare(`DELETE FROM dead_letters WHERE ${copies}`);
    // This transaction is synced, because afterwards the outbox forgets these events. If the events came back after a power
    // failure, nobody would remove them.
    const gone = syncedTransaction(this.#db, () =>
      ids.map(originalId).flatMap((id) => {
        const positions = remove.all({ id }).map(({ position }) => Number(position));
        for (const position of positions) forget.run(position);
        bury.run({ id });
        return positions;
      }),
    );
    for (const consumer of this.#consumers.values()) consumer.drop(new Set(gone));
  }

  /** The ids of all events that have a dead letter. */
  deadEvents(): string[] {
    const rows = this.#db.prepare('SELECT DISTINCT id FROM dead_letters').all();
    return [...new Set(rows.map(({ id }) => originalId(id as string)))];
  }

  /** An event that has a dead letter. */
  deadEvent(id: string): OutgoingEvent | undefined {
    const row = this.#db
      .prepare(`SELECT subject, body FROM dead_letters WHERE ${copies} LIMIT 1`)
      .get({ id });
    return row && { id, subject: row.subject as string, body: row.body as Uint8Array };
  }

  /** Adds a handler to a durable. All handlers of a durable share its position. The handlers take the events in turn. */
  consume(options: ConsumeOptions, handle: (delivery: Delivery) => Promise<void>): Intake {
    const { durable } = options;
    const consumer = this.#consumers.get(durable) ?? new LogConsumer(this.#db, options, this.#log);
    this.#consumers.set(durable, consumer);
    consumer.add(handle);
    return {
      drain: async () => {
        await consumer.remove(handle);
        if (consumer.idle && this.#consumers.get(durable) === consumer) this.#consumers.delete(durable);
      },
    };
  }

  startOver(durable: string): void {
    transaction(this.#db, () => {
      // The consumer skips events that have a dead letter. Their dead letters are deleted here, so that the consumer gets these
      // events again too.
      this.#db
        .prepare('DELETE FROM dead_letters WHERE durable = ? AND id IN (SELECT id FROM events)')
        .run(durable);
      for (const table of ['consumers', 'redeliveries'])
        this.#db.prepare(`DELETE FROM ${table} WHERE durable = ?`).run(durable);
    });
  }

  backlog(durable: string): Backlog {
    const dead = this.#db.prepare('SELECT count(*) AS dead FROM dead_letters WHERE durable = ?').get(durable);
    const consumer = this.#consumers.get(durable);
    return {
      pending: consumer?.pending() ?? 0,
      dead: Number(dead?.dead),
      position: consumer?.applied() ?? 0,
    };
  }

  deadLetters(durable: string): DeadLetter[] {
    return this.#db
      .prepare('SELECT id, subject, body, error FROM dead_letters WHERE durable = ? ORDER BY at, id')
      .all(durable) as unknown as DeadLetter[];
  }

  replayDeadLetters(durable: string): number {
    const forget = this.#db.prepare('DELETE FROM dead_letters WHERE durable = ? AND id = ?');
    const letters = this.deadLetters(durable);
    for (const { id, subject, body } of letters) {
      this.append({ id: replayedId(id), subject, body });
      forget.run(durable, id);
    }
    return letters.length;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#expiry);
    await Promise.all([...this.#consumers.values()].map((consumer) => consumer.stop()));
    await this.#expiring;
    this.#db.close();
  }

  #startExpiry(): void {
    this.#expiring ??= this.#expire()
      .catch((error: unknown) => this.#log.warn({ err: error }, 'old events not removed'))
      .finally(() => {
        this.#expiring = undefined;
      });
  }

  /**
   * Removes old events that every consumer has passed and that no consumer retries. Consumers that no service uses any more are
   * ignored. Such consumers stay at their positions, so the log would otherwise keep all later events forever. A service may
   * use such a consumer again, for example after an upgrade is undone. If this happens within seven days, the consumer misses
   * nothing (docs/adr/0001).
   */
  async #expire(): Promise<void> {
    const remove = this.#db.prepare(
      `WITH counting AS (
         SELECT durable, position FROM consumers
          WHERE :durables IS NULL OR durable IN (SELECT value FROM json_each(:durables)))
       DELETE FROM events WHERE position IN (SELECT position FROM events WHERE at < :before
         AND position <= (SELECT coalesce(min(position), 0) FROM counting)
         AND position NOT IN (SELECT r.position FROM redeliveries r JOIN counting USING (durable))
         LIMIT ${stepLength})`,
    );
    const forget = this.#db.prepare(
      'DELETE FROM redeliveries WHERE position NOT IN (SELECT position FROM events)',
    );
    const bury = this.#db.prepare('DELETE FROM dead_letters WHERE at < ?');
    const durables = this.#durables ? JSON.stringify(this.#durables) : null;
    const before = Date.now() - keepMs;
    while (remove.run({ before, durables }).changes === stepLength) {
      await nextTurn();
      if (this.#isClosing) return;
    }
    forget.run();
    bury.run(Date.now() - keepDeadMs);
  }
}
