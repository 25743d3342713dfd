import type { EventEnvelope } from '@kith/contracts';
import { streamNames } from '@kith/service';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';

/** All events of a platform that were ever seen in its stream, by aggregate and `seq`. */
export class EventLog {
  readonly #natsUrls: readonly string[];
  readonly #stream: string;
  /** How far the stream has been read, and which stream it was. */
  #read = { upTo: 0, created: '' };
  readonly aggregates = new Map<string, Map<number, EventEnvelope>>();
  /** Two events of one `seq`. */
  readonly contradictions: string[] = [];

  constructor(natsUrls: readonly string[], prefix: string) {
    this.#natsUrls = natsUrls;
    this.#stream = streamNames(prefix).events;
  }

  /** The stream may be another one now, or an older copy: all of it is read again. */
  forgetPlace(): void {
    this.#read = { upTo: 0, created: '' };
  }

  /** Reads what has come since. */
  async read(): Promise<void> {
    const servers = this.#natsUrls.map((url) => url.replace('nats://', ''));
    const connection = await connect({ servers });
    try {
      const manager = await jetstreamManager(connection);
      const { created, state } = await manager.streams.info(this.#stream);
      // Another stream, or an older copy of this one: all of it is read again.
      if (created !== this.#read.created || state.last_seq < this.#read.upTo)
        this.#read = { upTo: 0, created };
      if (state.messages === 0 || state.last_seq === this.#read.upTo) return;
      const from = this.#read.upTo + 1;
      const consumer = await jetstream(connection).consumers.get(this.#stream, { opt_start_seq: from });
      const messages = await consumer.consume({ max_messages: 1_000 });
      for await (const message of messages) {
        this.#add(message.json<EventEnvelope>());
        this.#read.upTo = message.seq;
        if (message.info.pending === 0) break;
      }
      await messages.close();
    } finally {
      await connection.close();
    }
  }

  of(type: string, id: string): EventEnvelope[] {
    const events = this.aggregates.get(`${type} ${id}`) ?? new Map<number, EventEnvelope>();
    return [...events].toSorted(([a], [b]) => a - b).map(([, event]) => event);
  }

  #add(event: EventEnvelope): void {
    const { type, id, seq } = event.aggregate;
    if (type === 'faults') return;
    const key = `${type} ${id}`;
    const events = this.aggregates.get(key) ?? new Map<number, EventEnvelope>();
    const known = events.get(seq);
    if (known && known.id !== event.id) {
      this.contradictions.push(`${key} has two events ${seq}: ${known.type} and ${event.type}`);
    }
    this.aggregates.set(key, events.set(seq, event));
  }
}
