import { streamNames } from '@kith/bus';
import type { EventEnvelope } from '@kith/contracts';
import { type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { type ConnectionOptions, connect } from '@nats-io/transport-node';
import { EventLog } from './event-log.ts';

/** How many requests run at the same time when the events are read one by one. Each request reads one event. */
const oneByOne = 100;

/**
 * Reads the events from JetStream. If `options` has an `authenticator`, the client connects as the NATS user of an operator.
 * This user may not create a consumer, so the events are read one by one.
 */
export class NatsLog extends EventLog {
  readonly #options: ConnectionOptions;
  readonly #stream: string;
  /**
   * The position up to which the stream has been read, and when the stream was created. If the time of creation changes, the
   * stream was created again, and is read from its beginning.
   */
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
      // By default, the client first reads information about the account. An operator has no right to do so, so this check is
      // off.
      const manager = await jetstreamManager(connection, { checkAPI: false });
      const { created, state } = await manager.streams.info(this.#stream);
      if (created !== this.#read.created || state.last_seq < this.#read.upTo)
        this.#read = { upTo: 0, created };
      if (state.messages === 0 || state.last_seq === this.#read.upTo) return;
      const from = this.#read.upTo + 1;
      if (this.#options.authenticator) {
        for (let at = from; at <= state.last_seq; at += oneByOne)
          await this.#readSome(manager, at, state.last_seq);
        return;
      }
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

  async #readSome(manager: JetStreamManager, from: number, last: number): Promise<void> {
    const size = Math.min(oneByOne, last - from + 1);
    const places = Array.from({ length: size }, (_, index) => from + index);
    const found = await Promise.all(places.map((seq) => manager.streams.getMessage(this.#stream, { seq })));
    for (const message of found) if (message) this.add(message.json<EventEnvelope>());
    this.#read.upTo = from + size - 1;
  }
}
