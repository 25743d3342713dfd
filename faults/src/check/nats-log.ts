import { streamNames } from '@kith/bus';
import type { EventEnvelope } from '@kith/contracts';
import { type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { type ConnectionOptions, connect } from '@nats-io/transport-node';
import { EventLog } from './event-log.ts';

/** How many requests run at the same time. Each request reads one event. */
const oneByOne = 100;

/** The events in JetStream. If `options` has an `authenticator`, the user is an operator, who may only read events one by one. */
export class NatsLog extends EventLog {
  readonly #options: ConnectionOptions;
  readonly #stream: string;
  /** How far the stream has been read, and when the stream was created. If the time of creation changes, it is a new stream. */
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
      // An operator may not read information about the account. So the client must not check the account.
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
