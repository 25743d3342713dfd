import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { traceFields } from '@kith/base';
import type { Logger } from 'pino';
import { backoffAfter, type ConsumeOptions, type Delivery, defaultDelivery } from './bus.ts';
import { subjectMatches } from './subject.ts';

type Handle = (delivery: Delivery) => Promise<void>;

interface EventRow {
  position: number;
  id: string;
  subject: string;
  body: Uint8Array;
  failures: number;
  traceparent: string | null;
  /**
   * Only on rows of the query `fresh`: whether the consumer retries this event or has given it up. If so, the row is skipped.
   */
  hasFailed?: number;
}

/** How long to wait after a failure of the log itself, such as a full disk, in ms. */
const troubleMs = 1_000;
/** After a consumer has made progress, it waits this long before it notes its position in its own database, in ms. */
const noteMs = 1_000;
/** How long a consumer works before it lets the event loop turn, so that other work in this process can run, in ms. */
const breathMs = 10;

/** Works through the event log for one durable, one event at a time: first due retries, then new events. */
export class LogConsumer {
  readonly #options: Required<Omit<ConsumeOptions, 'progress'>> & Pick<ConsumeOptions, 'progress'>;
  readonly #log: Logger;
  readonly #sql: ReturnType<typeof prepare>;
  readonly #handlers: Handle[] = [];
  /** The longest wait before another attempt, in ms. */
  readonly #longestMs: number;
  /** Events that were read from the log but have not been delivered. */
  #fresh: EventRow[] = [];
  #running: Promise<void> | undefined;
  #working: { handle: Handle; done: Promise<void> } | undefined;
  #again = false;
  #breathedAt = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #noteTimer: NodeJS.Timeout | undefined;

  constructor(db: DatabaseSync, options: ConsumeOptions, log: Logger) {
    this.#options = { ...defaultDelivery, ...options };
    this.#longestMs = Math.max(...this.#options.backoffMs, troubleMs);
    this.#log = log;
    db.prepare('INSERT INTO consumers (durable, position) VALUES (?, 0) ON CONFLICT DO NOTHING').run(
      options.durable,
    );
    this.#sql = prepare(db);
    // `#countBrokenOff` may set the position to the event whose attempt was broken off. So it must be called before
    // `#takeBack`. If `#countBrokenOff` were called afterwards, the consumer would skip events that have to be applied again.
    this.#countBrokenOff();
    this.#takeBack();
  }

  get idle(): boolean {
    return this.#handlers.length === 0;
  }

  add(handle: Handle): void {
    this.#handlers.push(handle);
    this.wake();
  }

  /** Removes a handler. Waits for the event that the handler is working on. */
  async remove(handle: Handle): Promise<void> {
    const at = this.#handlers.indexOf(handle);
    if (at >= 0) this.#handlers.splice(at, 1);
    if (this.#working?.handle === handle) await this.#working.done;
    if (this.idle) await this.stop();
  }

  async stop(): Promise<void> {
    this.#handlers.length = 0;
    clearTimeout(this.#timer);
    await this.#running;
    this.#noteNow();
  }

  /** How many events the consumer has not applied, including events that wait for another attempt. */
  pending(): number {
    const { durable, subjects } = this.#options;
    const rows = this.#sql.waiting.all(durable) as unknown as { subject: string; count: number }[];
    const matching = rows.filter(({ subject }) => subjects.some((one) => subjectMatches(one, subject)));
    const retries = this.#sql.retries.get(durable) as unknown as { count: number };
    return matching.reduce((sum, { count }) => sum + count, retries.count);
  }

  /** The last position up to which the consumer has applied or given up every event. */
  applied(): number {
    return (this.#sql.state.get(this.#options.durable) as unknown as State).applied;
  }

  /** Drops the events at these positions if they were read from the log but not delivered yet. */
  drop(positions: ReadonlySet<number>): void {
    this.#fresh = this.#fresh.filter(({ position }) => !positions.has(position));
  }

  wake(): void {
    if (this.idle) return;
    this.#again = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.#again) this.wake();
    });
  }

  async #run(): Promise<void> {
    try {
      this.#countBrokenOff();
      while (this.#again) {
        this.#again = false;
        for (let row = this.#next(); row !== 'end'; row = this.#next()) {
          if (row !== 'passed') await this.#deliver(row);
          await this.#breathe();
        }
      }
      this.#wakeAt(this.#sql.nextDue.get(this.#options.durable)?.due as number | null | undefined);
    } catch (error) {
      this.#fresh = [];
      // Otherwise the next run would begin at once, and never yield to the event loop.
      this.#again = false;
      this.#log.error({ err: error, durable: this.#options.durable }, 'consumer interrupted');
      this.#wakeAt(Date.now() + troubleMs);
    }
  }

  /**
   * Returns the event to deliver now. Returns `passed` if it only skipped events, because they are not on the consumer's
   * subjects or have failed before. Returns `end` if nothing is left.
   */
  #next(): EventRow | 'passed' | 'end' {
    if (this.idle) return 'end';
    const { durable, subjects } = this.#options;
    const now = Date.now();
    const due = this.#sql.due.get(durable, now, now + this.#longestMs);
    if (due) return due as unknown as EventRow;
    if (this.#fresh.length === 0) {
      const rows = this.#sql.fresh.all(durable) as unknown as EventRow[];
      const last = rows.at(-1);
      if (!last) return 'end';
      this.#fresh = rows.filter((row) => subjects.some((pattern) => subjectMatches(pattern, row.subject)));
      if (this.#fresh.length === 0) this.#pass(last.position);
    }
    const row = this.#fresh.shift();
    if (row?.hasFailed) this.#pass(row.position);
    return row && !row.hasFailed ? row : 'passed';
  }

  /**
   * Lets the event loop turn from time to time. Without this call, the event loop might not turn for a long time, because the
   * log is read synchronously, and most handlers are synchronous too.
   */
  async #breathe(): Promise<void> {
    if (performance.now() - this.#breathedAt < breathMs) return;
    await nextTurn();
    this.#breathedAt = performance.now();
  }

  /**
   * Compares the position in the log's file with the position that the consumer's own database has noted. The noted position is
   * lower in two cases. Either the process died before it noted its last events, or an older copy has replaced the database,
   * and the effects of these events are lost. The consumer then goes back to the noted position. Later events that wait for
   * their next attempt keep their failure counts, and dead letters stay dead letters. If the counts were reset, an event that
   * kills its process would never be given up.
   */
  #takeBack(): void {
    const { durable, progress } = this.#options;
    if (!progress) return;
    const { log, position, noted } = this.#sql.state.get(durable) as unknown as State;
    const note = progress.read(durable);
    // If there is no note, either the consumer has never written a note, or the database was restored from a copy that is older
    // than the first note. `noted` says which of the two cases it is.
    const known = note?.log === log ? note.position : noted ? 0 : position;
    if (known < position) {
      this.#sql.takeBack.run(known, durable);
      this.#log.info(
        { durable, from: position, to: known },
        'a database may not have the effects of the last events: applying them again',
      );
    }
    this.#note();
  }

  #noteSoon(): void {
    this.#noteTimer ??= setTimeout(() => this.#noteNow(), noteMs).unref();
  }

  /**
   * Notes the consumer's position. If the consumer's database cannot store the position, events after the last note may be
   * applied again after a restart.
   */
  #noteNow(): void {
    try {
      this.#note();
    } catch (error) {
      this.#log.warn(
        { err: error, durable: this.#options.durable },
        'the position of a consumer was not stored',
      );
    }
  }

  #note(): void {
    clearTimeout(this.#noteTimer);
    this.#noteTimer = undefined;
    const { durable, progress } = this.#options;
    if (!progress) return;
    const { log, applied } = this.#sql.state.get(durable) as unknown as State;
    const before = progress.read(durable);
    if (before?.log === log && before.position === applied) return;
    progress.note(durable, { log, position: applied });
    this.#sql.hasNoted.run(durable);
  }

  /**
   * If an attempt began and its end was never stored, counts the attempt as failed. Either the log could not store the end, or
   * the process died during the attempt, perhaps because of the event.
   */
  #countBrokenOff(): void {
    const row = this.#sql.brokenOff.get(this.#options.durable) as unknown as EventRow | undefined;
    if (row) this.#failed(row, new Error('the attempt was broken off'));
  }

  async #deliver(row: EventRow): Promise<void> {
    this.#sql.begin.run(row.position, this.#options.durable);
    const handle = this.#handlers.shift() as Handle;
    this.#handlers.push(handle);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#working = { handle, done: promise };
    try {
      const { subject, id, body, failures, traceparent } = row;
      await handle({ subject, id, body, delivery: failures + 1, traceparent: traceparent ?? undefined });
    } catch (error) {
      this.#failed(row, error);
      return;
    } finally {
      this.#working = undefined;
      resolve();
    }
    this.#forget(row);
  }

  #failed(row: EventRow, error: unknown): void {
    const { durable, maxDeliveries, backoffMs } = this.#options;
    const { position, id, subject, body } = row;
    const delivery = row.failures + 1;
    const event = { durable, eventId: id, ...traceFields(row.traceparent) };
    this.#log.warn({ err: error, ...event, delivery }, 'event not handled');
    if (delivery < maxDeliveries) {
      this.#sql.retry.run(durable, delivery, Date.now() + backoffAfter(delivery, backoffMs), position);
      this.#end(row);
    } else {
      this.#sql.bury.run(durable, id, subject, body, String(error), Date.now(), position);
      this.#log.error(event, 'event given up: dead letter');
      this.#forget(row);
    }
  }

  #pass(position: number): void {
    this.#sql.pass.run(position, this.#options.durable);
    this.#noteSoon();
  }

  /**
   * Ends an attempt. If the event had failed before, the consumer's position does not change. The position may be below this
   * event, and the events between the two may not be applied yet.
   */
  #end(row: EventRow): void {
    if (row.failures > 0) {
      this.#sql.end.run(this.#options.durable);
      this.#noteSoon();
    } else this.#pass(row.position);
  }

  #forget(row: EventRow): void {
    this.#end(row);
    if (row.failures > 0) this.#sql.forget.run(this.#options.durable, row.position);
  }

  #wakeAt(time: number | null | undefined): void {
    clearTimeout(this.#timer);
    if (this.idle || time == null) return;
    const ms = Math.max(time - Date.now(), 1);
    this.#timer = setTimeout(() => this.wake(), Math.min(ms, this.#longestMs));
    this.#timer.unref();
  }
}

interface State {
  log: string;
  position: number;
  /** Whether the consumer's database has ever stored a note. */
  noted: number;
  /**
   * The last position up to which the consumer has applied or given up every event. Events that it retries are above this
   * position.
   */
  applied: number;
}

/** Whether the consumer `c` retries the event `e` or has given it up. */
const hasFailed = `(EXISTS (SELECT 1 FROM redeliveries r WHERE r.durable = c.durable AND r.position = e.position)
  OR EXISTS (SELECT 1 FROM dead_letters d WHERE d.durable = c.durable AND d.id = e.id))`;

function prepare(db: DatabaseSync) {
  return {
    state: db.prepare(
      `SELECT log.id AS log, c.position, c.noted, min(c.position, coalesce(
           (SELECT min(r.position) - 1 FROM redeliveries r WHERE r.durable = c.durable), c.position)) AS applied
         FROM consumers c, log WHERE c.durable = ?`,
    ),
    takeBack: db.prepare('UPDATE consumers SET position = ? WHERE durable = ?'),
    hasNoted: db.prepare('UPDATE consumers SET noted = 1 WHERE durable = ? AND noted = 0'),
    // If the clock was set back, the stored due time of a retry may be too far in the future. Such a retry is due immediately.
    due: db.prepare(
      `SELECT e.position, e.id, e.subject, e.body, e.traceparent, r.failures FROM redeliveries r
         JOIN events e ON e.position = r.position
        WHERE r.durable = ? AND (r.due <= ? OR r.due > ?) ORDER BY r.position LIMIT 1`,
    ),
    fresh: db.prepare(
      `SELECT e.position, e.id, e.subject, e.body, e.traceparent, 0 AS failures, ${hasFailed} AS hasFailed
         FROM consumers c JOIN events e ON e.position > c.position
        WHERE c.durable = ? ORDER BY e.position LIMIT 100`,
    ),
    // The attempt is stored before the handler runs, so it is counted even if the event kills the process. So an event can kill
    // its process only a limited number of times.
    begin: db.prepare('UPDATE consumers SET trying = ? WHERE durable = ?'),
    brokenOff: db.prepare(
      `SELECT e.position, e.id, e.subject, e.body, e.traceparent, coalesce(r.failures, 0) AS failures
         FROM consumers c
         JOIN events e ON e.position = c.trying
         LEFT JOIN redeliveries r ON r.durable = c.durable AND r.position = c.trying
        WHERE c.durable = ?`,
    ),
    pass: db.prepare('UPDATE consumers SET position = max(position, ?), trying = NULL WHERE durable = ?'),
    end: db.prepare('UPDATE consumers SET trying = NULL WHERE durable = ?'),
    forget: db.prepare('DELETE FROM redeliveries WHERE durable = ? AND position = ?'),
    // `retry` and `bury` store nothing for an event that was withdrawn while it was handled.
    retry: db.prepare(
      `INSERT INTO redeliveries (durable, position, failures, due)
         SELECT ?, position, ?, ? FROM events WHERE position = ?
       ON CONFLICT (durable, position) DO UPDATE SET failures = excluded.failures, due = excluded.due`,
    ),
    bury: db.prepare(
      `INSERT OR REPLACE INTO dead_letters (durable, id, subject, body, error, at)
         SELECT ?, ?, ?, ?, ?, ? FROM events WHERE position = ?`,
    ),
    waiting: db.prepare(
      `SELECT e.subject, count(*) AS count FROM consumers c JOIN events e ON e.position > c.position
        WHERE c.durable = ? AND NOT ${hasFailed} GROUP BY e.subject`,
    ),
    retries: db.prepare('SELECT count(*) AS count FROM redeliveries WHERE durable = ?'),
    nextDue: db.prepare('SELECT min(due) AS due FROM redeliveries WHERE durable = ?'),
  };
}
