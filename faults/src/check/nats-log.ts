import type { EventEnvelope } from '@kith/contracts';
import { streamNames } from '@kith/service';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { type ConnectionOptions, connect } from '@nats-io/transport-node';
import { EventLog } from './event-log.ts';

/** The events in JetStream. */
export class NatsLog extends EventLog {
  readonly #options: ConnectionOptions;
  readonly #stream: string;
  /** How far the stream has been read, and which stream it was. */
  #read = { upTo: 0, created: '' };

  constructor(options: ConnectionOptions, prefix: string) {
    super();
    this.#options = options;
    this.#stream = streamNames(prefix).events;
  }

  forgetPlace(): void {
    this.#read = { upTo: 0, created: '' };
  }

  async read(): Promise<void> {
    const connection = await connect(this.#options);
    try {
      const manager = await jetstreamManager(connection);
      const { created, state } = await manager.streams.info(this.#stream);
      if (created !== this.#read.created || state.last_seq < this.#read.upTo)
        this.#read = { upTo: 0, created };
      if (state.messages === 0 || state.last_seq === this.#read.upTo) return;
      const from = this.#read.upTo + 1;
      const consumer = await jetstream(connection).consumers.get(this.#stream, { opt_start_seq: from });
      const messages = await consumer.consume({ max_messages: 1_000 });
      for await (const message of messages) {
        this.add(message.json<EventEnvelope>());
        this.#read.upTo = message.seq;
        if (message.info.pending === 0) break;
      }
      await messages.close();
    } finally {
      await connection.close();
    }
  }
}
