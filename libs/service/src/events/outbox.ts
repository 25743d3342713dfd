import { type EventEnvelope, eventSubject } from '@kith/contracts';
import type { Logger } from 'pino';
import type { Bus } from '../bus/bus.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** A stored event that may not have been published yet. `key` is project, aggregate and seq. */
export interface StoredEvent {
  key: string;
  event: EventEnvelope;
}

/** What a store keeps of its events, stored in the same write as the change they tell of (docs/adr/0004). */
export interface Outbox {
  /** The oldest events that are stored but not marked as published. */
  unpublished(limit: number): Promise<StoredEvent[]>;
  markPublished(keys: readonly string[]): Promise<void>;
}

/** The key of an event in a service's `events`. */
export function eventKey(event: EventEnvelope): string {
  const { type, id, seq } = event.aggregate;
  return `${event.projectId}|${type}|${id}|${seq}`;
}

const batch = 100;

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

  constructor(options: { bus: Bus; outbox: Outbox; log: Logger; metrics: Metrics; sweepMs?: number }) {
    this.#options = options;
    this.#timer = setInterval(() => this.kick(), options.sweepMs ?? 2_000);
    this.#timer.unref();
    this.kick();
  }

  /** Publishes soon; does not wait and does not throw. */
  kick(): void {
    if (this.#stopped) return;
    this.#again = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.#again) this.kick();
    });
  }

  /** Publishes what is there, then ends. What fails stays for the next start. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    clearInterval(this.#timer);
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
        if (events.length === 0) continue;
        const body = (event: EventEnvelope) => new TextEncoder().encode(JSON.stringify(event));
        const sent = await Promise.allSettled(
          events.map(({ event }) =>
            bus.publish({ subject: eventSubject(bus.prefix, event), id: event.id, body: body(event) }),
          ),
        );
        const done = events.filter((_, index) => sent[index]?.status === 'fulfilled').map(({ key }) => key);
        if (done.length > 0) await outbox.markPublished(done);
        metrics.eventsPublished.inc(done.length);
        const failed = sent.find((result) => result.status === 'rejected');
        if (failed) throw failed.reason;
        this.#again ||= events.length === batch;
      }
    } catch (error) {
      // The sweep tries again.
      this.#again = false;
      log.warn({ err: error }, 'events not published yet');
    }
  }
}
