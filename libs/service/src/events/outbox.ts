import { setImmediate as nextTurn } from 'node:timers/promises';
import { type EventEnvelope, eventSubject } from '@kith/contracts';
import type { Logger } from 'pino';
import type { Bus, Span } from '../bus/bus.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { tracing } from '../telemetry/tracing.ts';

/** A stored event that may not have been published yet. `key` is project, aggregate and seq. */
export interface StoredEvent {
  key: string;
  event: EventEnvelope;
  /** The place in a trace of the change it tells of. */
  traceparent?: string | undefined;
  /** When it was stored, Unix ms: it was not published before. */
  at: number;
}

/** A stored event that is out, and where its copies are, if that is known. */
export interface PublishedEvent extends StoredEvent {
  span?: Span | undefined;
}

/** Which events are looked for: those with keys between the two, and in their JSON text `telling`, if given. */
export interface EventRange {
  from: string;
  to: string;
  telling?: string;
}

/** What a store keeps of its events, stored in the same write as the change they tell of (docs/adr/0004). */
export interface Outbox {
  /** The oldest events that are stored but not marked as published. */
  unpublished(limit: number): Promise<StoredEvent[]>;
  /** Marks events as published, with the span their copies lie in, which widens that of earlier times. */
  markPublished(keys: readonly string[], span?: Span): Promise<void>;
  /** Some of the published events of a range, by their keys. */
  published(range: EventRange, limit: number): Promise<PublishedEvent[]>;
  /** Sets what a published event says from now on, where its new copy is at `position`. */
  amend(key: string, event: EventEnvelope, position: number): Promise<void>;
  /** Removes published events. */
  forget(keys: readonly string[]): Promise<void>;
}

/** The key of an event in a service's `events`. */
export function eventKey(event: EventEnvelope): string {
  const { type, id, seq } = event.aggregate;
  return `${event.projectId}|${type}|${id}|${seq}`;
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
  #running: Promise<void> | undefined;
  #again = false;
  #stopped = false;
  /** When the oldest event that is known not to be out came about, Unix ms. */
  #oldest: number | undefined;
  readonly #unwatch: () => void;

  constructor(options: { bus: Bus; outbox: Outbox; log: Logger; metrics: Metrics; sweepMs?: number }) {
    this.#options = options;
    this.#timer = setInterval(() => this.kick(), options.sweepMs ?? 2_000);
    this.#timer.unref();
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
    this.#unwatch();
    this.#stopped = true;
    await this.#running;
    // What was stored while the last run was ending; nothing else starts one now.
    this.#again = true;
    await this.#run();
  }

  async #run(): Promise<void> {
    const { bus, outbox, log, metrics } = this.#options;
    try {
      while (this.#again) {
        this.#again = false;
        const events = await outbox.unpublished(batch);
        this.#oldest = oldestOf(events);
        if (events.length === 0) continue;
        const body = (event: EventEnvelope) => new TextEncoder().encode(JSON.stringify(event));
        const sent = await Promise.allSettled(
          events.map(({ event, traceparent }) =>
            bus.publish({
              subject: eventSubject(bus.prefix, event),
              id: event.id,
              body: body(event),
              traceparent,
            }),
          ),
        );
        const done = events.flatMap(({ key, at }, index) => {
          const result = sent[index];
          return result?.status === 'fulfilled' ? [{ key, at, position: result.value }] : [];
        });
        // A process that died before it had marked the event may have left an earlier copy, anywhere.
        for (const [isLate, some] of Map.groupBy(done, ({ at }) => Date.now() - at > oneCopyMs)) {
          const positions = some.map(({ position }) => position);
          const span = { first: isLate ? 0 : Math.min(...positions), last: Math.max(...positions) };
          await outbox.markPublished(
            some.map(({ key }) => key),
            span,
          );
        }
        metrics.eventsPublished.inc(done.length);
        metrics.eventsNotPublished.inc(events.length - done.length);
        this.#oldest = oldestOf(events.filter((_, index) => sent[index]?.status === 'rejected'));
        const failed = sent.find((result) => result.status === 'rejected');
        if (failed) throw failed.reason;
        this.#again ||= events.length === batch;
        // In the embedded form nothing above waits: requests get their turn between two batches.
        await nextTurn();
      }
    } catch (error) {
      // The sweep tries again.
      this.#again = false;
      log.warn({ err: error }, 'events not published yet');
    }
  }
}

function oldestOf(events: readonly StoredEvent[]): number | undefined {
  if (events.length === 0) return undefined;
  return Math.min(...events.map(({ event }) => Date.parse(event.occurredAt)));
}
