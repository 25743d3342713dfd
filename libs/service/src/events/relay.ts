import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Metrics, tracing } from '@kith/base';
import type { Bus } from '@kith/bus';
import { type EventEnvelope, eventSubject } from '@kith/contracts';
import { afterChange, type Outbox, type Past, type StoredEvent } from '@kith/store';
import type { Logger } from 'pino';
import { takeBackLost } from './take-back.ts';

/** An event that could not be published. */
interface Failure extends StoredEvent {
  reason: unknown;
}

const batch = 100;
/**
 * If an event is published again within this time after it was stored, in ms, the log gets no second copy. Brokers drop repeats
 * for two minutes.
 */
const oneCopyMs = 60_000;

/**
 * Publishes the events of an outbox. Publishes immediately when a handler kicks the relay. Also publishes every `sweepMs`, for
 * events that a process left behind when it died. Publishing an event twice is harmless, because consumers compare `seq` or the
 * event's id.
 */
export class Relay {
  readonly #options: { bus: Bus; outbox: Outbox; log: Logger; metrics: Metrics };
  readonly #timer: NodeJS.Timeout;
  readonly #checks: NodeJS.Timeout;
  /** The timer that runs while a kick waits for more events. */
  #gathering: NodeJS.Timeout | undefined;
  /** Whether the marks of published events must be compared with the log before the next event is published. */
  #isCheckDue = true;
  /** How many times the bus has connected again after it had lost its connection. */
  #connections = 0;
  /**
   * The epoch of the database: how many times it was restored from a backup. If the epoch is not 0, published events carry it.
   */
  #epoch = 0;
  #running: Promise<void> | undefined;
  #again = false;
  #stopped = false;
  /** The point that this sweep has reached, and the events that it could not publish. */
  #past: Past | undefined;
  /** Whether the next sweep is due. The next sweep begins when the current sweep has looked at all unpublished events. */
  #isSweepDue = false;
  /** The Unix time in ms of the oldest event that is known to be unpublished. */
  #oldest: number | undefined;
  readonly #unwatch: () => void;

  constructor(options: {
    bus: Bus;
    outbox: Outbox;
    log: Logger;
    metrics: Metrics;
    sweepMs?: number;
    /**
     * How often the marks of published events are compared with the bus's log, in ms (`take-back.ts`). They are also compared
     * at the start and after a lost connection.
     */
    checkMs?: number;
  }) {
    this.#options = options;
    this.#timer = setInterval(() => {
      this.#isSweepDue = true;
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

  /**
   * Makes the relay publish soon. Does not wait until the events are published, and does not throw. Use `within` (ms) for
   * events for which nobody waits. These events are published after at most this time, together with the events that are stored
   * meanwhile.
   */
  kick({ within = 0 }: { within?: number } = {}): void {
    afterChange(() => {
      if (within === 0) this.#kick();
      else if (!this.#stopped) this.#gathering ??= setTimeout(() => this.#kick(), within);
    });
  }

  #kick(): void {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    if (this.#stopped) return;
    this.#again = true;
    // A run also publishes events that other requests have stored. So the run does not belong to the trace of the request that
    // kicked the relay. Each event carries the trace of its own change.
    const run = () => this.#run();
    this.#running ??= (tracing()?.detached(run) ?? run()).finally(() => {
      this.#running = undefined;
      if (this.#again) this.kick();
    });
  }

  /** Publishes all stored events, and then stops. Events that cannot be published stay in the outbox until the next start. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    clearInterval(this.#timer);
    clearInterval(this.#checks);
    clearTimeout(this.#gathering);
    this.#unwatch();
    this.#stopped = true;
    await this.#running;
    // Publishes the events that were stored while the last run was ending. After `#stopped` is set, no kick starts a run any
    // more, so this method does it.
    this.#past = undefined;
    this.#again = true;
    await this.#run();
  }

  async #run(): Promise<void> {
    const { bus, outbox, log } = this.#options;
    let isAtEnd = true;
    try {
      while (this.#again) {
        this.#again = false;
        if (this.#isCheckDue) await this.#check();
        // A sweep that is still running is not started again from the beginning. Otherwise, if publishing fails slowly, sweeps
        // might never reach the events at the end.
        if (this.#isSweepDue && isAtEnd) {
          this.#isSweepDue = false;
          this.#past = undefined;
        }
        const began = performance.now();
        const events = await outbox.unpublished(batch, this.#past);
        // If the process was frozen during the read, another process may have published these events and erased them again. The
        // broker no longer drops these events as repeats, so publishing them would bring them back. For this reason, the events
        // are read again.
        if (performance.now() - began > oneCopyMs) {
          this.#again = true;
          continue;
        }
        isAtEnd = events.length < batch;
        if (!this.#past) this.#oldest = oldestOf(events);
        if (events.length === 0) continue;
        const failures = await this.#publish(events);
        this.#pass(events, failures);
        this.#again ||= events.length === batch;
        const [first] = failures;
        if (first) log.warn({ err: first.reason, events: failures.length }, 'events not published yet');
        // Without a connection, later events cannot be published either, so the run ends.
        if (first && !bus.isConnected()) this.#again = false;
        // In the embedded form, none of the awaits above yields to the event loop. This pause lets the process handle requests
        // between two batches.
        await nextTurn();
      }
    } catch (error) {
      // The next sweep tries again.
      this.#again = false;
      log.warn({ err: error }, 'events not published yet');
    }
  }

  /** Takes back the marks of events that the log has lost. */
  async #check(): Promise<void> {
    this.#isCheckDue = false;
    try {
      this.#epoch = (await this.#options.outbox.fact('epoch'))?.number ?? 0;
      const after = await takeBackLost(this.#options);
      if (after === undefined) return;
      // The events that are to be published again may lie before the point that this sweep has reached. So the sweep starts
      // again with the oldest unpublished event.
      this.#past = undefined;
      this.#options.log.warn({ after }, 'the log has lost events; they are published again');
    } catch (error) {
      this.#isCheckDue = true;
      // Until a check succeeds, no event is published. Even then, the age of the oldest event is reported.
      this.#oldest = oldestOf(await this.#options.outbox.unpublished(1));
      throw error;
    }
  }

  /** Publishes events and marks the published events. Returns the events that failed. */
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
    // If the connection was lost in the meantime, the broker may have come back without the first of these events. If all of
    // these events were marked now, the mark of the last event would wrongly show that the broker has all of them. So none of
    // them is marked, and all are published again.
    if (connections !== this.#connections) return [];
    const done: { key: string; id: string; at: number; position: number }[] = [];
    const failures: Failure[] = [];
    for (const [index, stored] of events.entries()) {
      const result = sent[index] as PromiseSettledResult<number>;
      if (result.status === 'rejected') failures.push({ ...stored, reason: result.reason });
      else done.push({ key: stored.key, id: stored.event.id, at: stored.at, position: result.value });
      if (stored.conflict)
        log.error({ event: stored.key }, 'two events have the same seq: the database lost a change');
    }
    // If a process publishes an event and dies before it marks the event, the event is published a second time. If this happens
    // late, the log has two copies, and the first copy can be at any position. So the span of late events begins at 0.
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
    // If events could not be published, perhaps the broker has lost its log. So the marks are compared with the log before the
    // next event is published.
    if (failures.length > 0) this.#isCheckDue = true;
    return failures;
  }

  #stamped(event: EventEnvelope): EventEnvelope {
    if (this.#epoch === 0) return event;
    return { ...event, aggregate: { ...event.aggregate, epoch: this.#epoch } };
  }

  /**
   * Skips the events that could not be published, so that later events need not wait for them. The next sweep tries them again.
   */
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
