import { setImmediate as nextTurn } from 'node:timers/promises';
import { type EventEnvelope, eventSubject } from '@kith/contracts';
import type { Logger } from 'pino';
import type { Bus, Progress, Span } from '../bus/bus.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { tracing } from '../telemetry/tracing.ts';
import { takeBackLost } from './take-back.ts';

/** A stored event that may not have been published yet. `key` is project, aggregate and seq. */
export interface StoredEvent {
  key: string;
  event: EventEnvelope;
  /** The place in a trace of the change it tells of. */
  traceparent?: string | undefined;
  /** When it was stored, Unix ms: it was not published before. */
  at: number;
  /** Another event has its `seq`. */
  conflict?: true;
}

/** Where a pass over unpublished events goes on: behind those stored before `at`, and behind these. */
export interface Past {
  at: number;
  keys: readonly string[];
}

/** A stored event that is out, and where its copies are, if that is known. */
export interface PublishedEvent extends StoredEvent {
  span?: Span | undefined;
}

/** Where copies of events that were published together are, and the id of the event at the last position. */
export interface Copies extends Span {
  id: string;
}

/** Which events are looked for: those with keys between the two, and in their JSON text `telling`, if given. */
export interface EventRange {
  from: string;
  to: string;
  telling?: string;
}

/** What a store keeps of its events, stored in the same write as the change they tell of (docs/adr/0004). */
export interface Outbox {
  /** Notes of how far the service's consumers have got, where its database keeps them. */
  readonly progress?: Progress;
  /** The oldest events that are stored but not marked as published; with `past`, of those behind it. */
  unpublished(limit: number, past?: Past): Promise<StoredEvent[]>;
  /** Marks events as published, with the span their copies lie in, which widens that of earlier times. */
  markPublished(keys: readonly string[], copies?: Copies): Promise<void>;
  /** Some of the published events of a range, by their keys. */
  published(range: EventRange, limit: number): Promise<PublishedEvent[]>;
  /** Whether there is an event of a range; with `unpublished`, one that is not published yet. */
  holds(range: EventRange, how?: { unpublished?: true }): Promise<boolean>;
  /** Sets what a published event says from now on, where its new copy is at `position`. */
  amend(key: string, event: EventEnvelope, position: number): Promise<void>;
  /** Removes published events. */
  forget(keys: readonly string[]): Promise<void>;
  /** The highest position on the bus that events are marked with, above `above` and below `below`, and the id of its event. */
  newest(above: number, below?: number): Promise<{ position: number; id: string } | undefined>;
  /** Takes marks back: events marked with a position above `after`, up to `upTo`, are to be published again. */
  unpublish(after: number, upTo: number): Promise<void>;
  /**
   * Stores events that tell no change but what is so, under keys of their own that have the events' ids: repeating it with the
   * same ids changes nothing.
   */
  restate(events: readonly EventEnvelope[]): Promise<void>;
  /** What the store knows of itself; `undefined` before that was noted. */
  fact<K extends keyof Facts>(name: K): Promise<Facts[K] | undefined>;
  noteFact<K extends keyof Facts>(name: K, value: Facts[K]): Promise<void>;
}

/** What a store knows of itself. */
export interface Facts {
  log: MarkedLog;
  epoch: Epoch;
}

/** How often a database was restored from a backup (docs/adr/0028). */
export interface Epoch {
  number: number;
  /** When it was restored last, Unix ms; absent where that was before it was noted. */
  restoredAt?: number;
  /** What follows from the last restore is not done yet. */
  isNew?: boolean;
}

/** The log of events that an outbox's marks speak of. */
export interface MarkedLog {
  /** `Bus.log()` has told it. */
  created: string;
  /** The highest position that is marked, as of the last comparison. */
  highest: number;
  /** Marks with positions above this are being taken back. */
  lostAfter?: number | undefined;
}

/** The key of an event in a service's `events`. */
export function eventKey(event: EventEnvelope): string {
  const { type, id, seq } = event.aggregate;
  return `${event.projectId}|${type}|${id}|${seq}`;
}

/** The key of an event whose place is another one's. */
export function besideKey(event: EventEnvelope): string {
  return `${eventKey(event)}|${event.id}`;
}

/** An event that could not be published. */
interface Failure extends StoredEvent {
  reason: unknown;
}

const batch = 100;
/** Within this time of being stored, well under the brokers' two minutes, publishing twice leaves one copy. */
const oneCopyMs = 60_000;

/**
 * Publishes what stands in an outbox: at once when a handler kicks it, and every `sweepMs` for what a process left
 * when it died. Publishing twice is harmless: consumers go by `seq` and by the event's id.
 */
export class Relay {
  readonly #options: { bus: Bus; outbox: Outbox; log: Logger; metrics: Metrics };
  readonly #timer: NodeJS.Timeout;
  readonly #checks: NodeJS.Timeout;
  /** Whether the marks are to be compared with the log before anything else is published. */
  #isCheckDue = true;
  /** Counts the times the connection was lost. */
  #connections = 0;
  /** That of the database; goes out with every event. */
  #epoch = 0;
  #running: Promise<void> | undefined;
  #again = false;
  #stopped = false;
  /** What this sweep could not publish. */
  #past: Past | undefined;
  /** When the oldest event that is known not to be out came about, Unix ms. */
  #oldest: number | undefined;
  readonly #unwatch: () => void;

  constructor(options: {
    bus: Bus;
    outbox: Outbox;
    log: Logger;
    metrics: Metrics;
    sweepMs?: number;
    /** How often the marks are compared with the log, beside at start and when the connection was lost. */
    checkMs?: number;
  }) {
    this.#options = options;
    this.#timer = setInterval(() => {
      // A run that is under way comes to its end first: begun anew each time, it might never get past slow failures.
      if (!this.#running) this.#past = undefined;
      this.kick();
    }, options.sweepMs ?? 2_000);
    this.#timer.unref();
    const check = () => {
      this.#isCheckDue = true;
      this.kick();
    };
    this.#checks = setInterval(check, options.checkMs ?? 10_000);
    this.#checks.unref();
    options.bus.onReconnect(() => {
      this.#connections++;
      check();
    });
    this.#unwatch = options.metrics.eventsUnpublishedAge.watch({}, () =>
      this.#oldest === undefined ? 0 : (Date.now() - this.#oldest) / 1000,
    );
    this.kick();
  }

  /** Publishes soon; does not wait and does not throw. */
  kick(): void {
    if (this.#stopped) return;
    this.#again = true;
    // It publishes what others have stored, too: what it does belongs to no trace, each event has its own.
    const run = () => this.#run();
    this.#running ??= (tracing()?.detached(run) ?? run()).finally(() => {
      this.#running = undefined;
      if (this.#again) this.kick();
    });
  }

  /** Publishes what is there, then ends. What fails stays for the next start. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    clearInterval(this.#timer);
    clearInterval(this.#checks);
    this.#unwatch();
    this.#stopped = true;
    await this.#running;
    // What was stored while the last run was ending; nothing else starts one now.
    this.#past = undefined;
    this.#again = true;
    await this.#run();
  }

  async #run(): Promise<void> {
    const { bus, outbox, log } = this.#options;
    try {
      while (this.#again) {
        this.#again = false;
        if (this.#isCheckDue) await this.#check();
        const events = await outbox.unpublished(batch, this.#past);
        if (!this.#past) this.#oldest = oldestOf(events);
        if (events.length === 0) continue;
        const failures = await this.#publish(events);
        this.#pass(events, failures);
        this.#again ||= events.length === batch;
        const [first] = failures;
        if (first) log.warn({ err: first.reason, events: failures.length }, 'events not published yet');
        // Nothing behind them can be published either.
        if (first && !bus.isConnected()) this.#again = false;
        // In the embedded form nothing above waits: requests get their turn between two batches.
        await nextTurn();
      }
    } catch (error) {
      // The sweep tries again.
      this.#again = false;
      log.warn({ err: error }, 'events not published yet');
    }
  }

  /** Takes marks back of what the log has lost. */
  async #check(): Promise<void> {
    this.#isCheckDue = false;
    try {
      this.#epoch = (await this.#options.outbox.fact('epoch'))?.number ?? 0;
      const after = await takeBackLost(this.#options);
      if (after !== undefined) this.#options.log.warn({ after }, 'the log has lost events: published again');
    } catch (error) {
      this.#isCheckDue = true;
      throw error;
    }
  }

  /** Publishes events and marks those that are out; gives the others. */
  async #publish(events: readonly StoredEvent[]): Promise<Failure[]> {
    const { bus, outbox, log, metrics } = this.#options;
    const connections = this.#connections;
    const sent = await Promise.allSettled(
      events.map(({ event, traceparent }) =>
        bus.publish({
          subject: eventSubject(bus.prefix, event),
          id: event.id,
          body: new TextEncoder().encode(JSON.stringify(this.#stamped(event))),
          traceparent,
        }),
      ),
    );
    // Perhaps the broker came back without the first of them, and the position of the last would hide that.
    if (connections !== this.#connections) return [];
    const done: { key: string; id: string; at: number; position: number }[] = [];
    const failures: Failure[] = [];
    for (const [index, stored] of events.entries()) {
      const result = sent[index] as PromiseSettledResult<number>;
      if (result.status === 'rejected') failures.push({ ...stored, reason: result.reason });
      else done.push({ key: stored.key, id: stored.event.id, at: stored.at, position: result.value });
      if (stored.conflict)
        log.error({ event: stored.key }, 'two events have one seq: the database lost a change');
    }
    // A process that died before it had marked the event may have left an earlier copy, anywhere.
    for (const [isLate, some] of Map.groupBy(done, ({ at }) => Date.now() - at > oneCopyMs)) {
      const inOrder = some.toSorted((one, other) => one.position - other.position);
      const last = inOrder.at(-1) as (typeof done)[number];
      await outbox.markPublished(
        some.map(({ key }) => key),
        { first: isLate ? 0 : (inOrder[0]?.position ?? 0), last: last.position, id: last.id },
      );
    }
    metrics.eventsPublished.inc(done.length);
    metrics.eventsNotPublished.inc(failures.length);
    // A log that is gone takes no events.
    if (failures.length > 0) this.#isCheckDue = true;
    return failures;
  }

  #stamped(event: EventEnvelope): EventEnvelope {
    if (this.#epoch === 0) return event;
    return { ...event, aggregate: { ...event.aggregate, epoch: this.#epoch } };
  }

  /** Goes on behind what could not be published, which is tried again by the next sweep: it must not stop what follows. */
  #pass(events: readonly StoredEvent[], failures: readonly Failure[]): void {
    const oldest = oldestOf(failures);
    if (!this.#past) this.#oldest = oldest;
    if (failures.length === 0) return;
    this.#oldest = Math.min(this.#oldest ?? Number.POSITIVE_INFINITY, oldest as number);
    const { at } = events.at(-1) as StoredEvent;
    const before = this.#past?.at === at ? this.#past.keys : [];
    const last = failures.filter((one) => one.at === at).map(({ key }) => key);
    this.#past = { at, keys: [...before, ...last] };
  }
}

function oldestOf(events: readonly StoredEvent[]): number | undefined {
  if (events.length === 0) return undefined;
  return Math.min(...events.map(({ event }) => Date.parse(event.occurredAt)));
}
