import type { DatabaseSync, StatementSync } from 'node:sqlite';
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
}

/** How long to wait after a failure of the log itself, a full disk say. */
const troubleMs = 1_000;

/** Works through the event log for one durable, an event at a time: due retries first, then what is new. */
export class LogConsumer {
  readonly #options: Required<ConsumeOptions>;
  readonly #log: Logger;
  readonly #sql: Record<'due' | 'fresh' | 'pass' | 'forget' | 'retry' | 'bury' | 'nextDue', StatementSync>;
  readonly #handlers: Handle[] = [];
  /** What was read of the log and not yet delivered. */
  #fresh: EventRow[] = [];
  #running: Promise<void> | undefined;
  #working: { handle: Handle; done: Promise<void> } | undefined;
  #again = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(db: DatabaseSync, options: ConsumeOptions, log: Logger) {
    this.#options = { ...defaultDelivery, ...options };
    this.#log = log;
    db.prepare('INSERT INTO consumers (durable, position) VALUES (?, 0) ON CONFLICT DO NOTHING').run(
      options.durable,
    );
    this.#sql = prepare(db);
  }

  get idle(): boolean {
    return this.#handlers.length === 0;
  }

  add(handle: Handle): void {
    this.#handlers.push(handle);
    this.wake();
  }

  /** Takes a handler out and waits for what it is working on. */
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
      while (this.#again) {
        this.#again = false;
        for (let row = this.#next(); row; row = this.#next()) await this.#deliver(row);
      }
      this.#wakeAt(this.#sql.nextDue.get(this.#options.durable)?.due as number | null | undefined);
    } catch (error) {
      this.#fresh = [];
      this.#log.error({ err: error, durable: this.#options.durable }, 'consumer interrupted');
      this.#wakeAt(Date.now() + troubleMs);
    }
  }

  #next(): EventRow | undefined {
    if (this.idle) return undefined;
    const { durable, subjects } = this.#options;
    const due = this.#sql.due.get(durable, Date.now());
    if (due) return due as unknown as EventRow;
    while (this.#fresh.length === 0) {
      const rows = this.#sql.fresh.all(durable) as unknown as EventRow[];
      const last = rows.at(-1);
      if (!last) return undefined;
      this.#fresh = rows.filter((row) => subjects.some((pattern) => subjectMatches(pattern, row.subject)));
      if (this.#fresh.length === 0) this.#pass(last.position);
    }
    return this.#fresh.shift();
  }

  async #deliver(row: EventRow): Promise<void> {
    const handle = this.#handlers.shift() as Handle;
    this.#handlers.push(handle);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#working = { handle, done: promise };
    try {
      await handle({ subject: row.subject, id: row.id, body: row.body, delivery: row.failures + 1 });
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
    this.#log.warn({ err: error, durable, eventId: id, delivery }, 'event not handled');
    if (delivery < maxDeliveries) {
      this.#sql.retry.run(durable, position, delivery, Date.now() + backoffAfter(delivery, backoffMs));
      this.#pass(position);
    } else {
      this.#sql.bury.run(durable, id, subject, body, String(error), Date.now());
      this.#log.error({ durable, eventId: id }, 'event given up: dead letter');
      this.#forget(row);
    }
  }

  #pass(position: number): void {
    this.#sql.pass.run(position, this.#options.durable, position);
  }

  #forget(row: EventRow): void {
    this.#pass(row.position);
    if (row.failures > 0) this.#sql.forget.run(this.#options.durable, row.position);
  }

  #wakeAt(time: number | null | undefined): void {
    clearTimeout(this.#timer);
    if (this.idle || time == null) return;
    this.#timer = setTimeout(() => this.wake(), Math.max(time - Date.now(), 1));
    this.#timer.unref();
  }
}

function prepare(db: DatabaseSync) {
  return {
    due: db.prepare(
      `SELECT e.position, e.id, e.subject, e.body, r.failures FROM redeliveries r
         JOIN events e ON e.position = r.position
        WHERE r.durable = ? AND r.due <= ? ORDER BY r.position LIMIT 1`,
    ),
    fresh: db.prepare(
      `SELECT position, id, subject, body, 0 AS failures FROM events
        WHERE position > (SELECT position FROM consumers WHERE durable = ?) ORDER BY position LIMIT 100`,
    ),
    pass: db.prepare('UPDATE consumers SET position = ? WHERE durable = ? AND position < ?'),
    forget: db.prepare('DELETE FROM redeliveries WHERE durable = ? AND position = ?'),
    retry: db.prepare(
      `INSERT INTO redeliveries (durable, position, failures, due) VALUES (?, ?, ?, ?)
       ON CONFLICT (durable, position) DO UPDATE SET failures = excluded.failures, due = excluded.due`,
    ),
    bury: db.prepare(
      'INSERT OR REPLACE INTO dead_letters (durable, id, subject, body, error, at) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    nextDue: db.prepare('SELECT min(due) AS due FROM redeliveries WHERE durable = ?'),
  };
}
