import { streamNames } from '@kith/bus';
import { serversOf } from '@kith/bus/nats';
import type { EmbeddedPlatform } from '@kith/platform';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { EventRecord } from './event-record.ts';

/** Records the events on the bus of an embedded platform. */
export async function watchBus({ bus }: EmbeddedPlatform, record: EventRecord): Promise<AsyncDisposable> {
  const options = { durable: 'testing-events', subjects: [`${bus.prefix}.event.>`] };
  const intake = await bus.consume(options, async ({ body }) => record.add(body));
  return {
    async [Symbol.asyncDispose]() {
      await intake.drain();
      record.end();
    },
  };
}

/** Records all events of a prefix in NATS, from the first event on. It uses a consumer of its own, which leaves nothing behind. */
export async function watchNats(
  natsUrl: string,
  prefix: string,
  record: EventRecord,
): Promise<AsyncDisposable> {
  const connection = await connect({ ...serversOf(natsUrl), maxReconnectAttempts: -1 });
  try {
    const consumer = await jetstream(connection).consumers.get(streamNames(prefix).events);
    const messages = await consumer.consume({ callback: ({ data }) => record.add(data) });
    return {
      async [Symbol.asyncDispose]() {
        messages.stop();
        await connection.close();
        record.end();
      },
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}
