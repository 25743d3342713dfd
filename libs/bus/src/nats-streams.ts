import { StartError } from '@kith/base';
import { JetStreamApiError, type JetStreamManager } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { ifThere, made, streamNotFound } from './nats-durables.ts';
import { streamNames } from './stream-names.ts';

/** The error code of NATS if JetStream has no leader for the moment. */
const unavailable = 10008;

/**
 * Creates the stream of events and the stream of dead letters. Repeatable. If a stream exists and has too few replicas, raises
 * their number. All other settings of the stream stay as they are, because an operator may have changed them. Throws
 * `StartError` if there are fewer servers than `replicas`.
 */
export async function ensureStreams(jsm: JetStreamManager, prefix: string, replicas: number): Promise<void> {
  const names = streamNames(prefix);
  const wanted = [
    { name: names.events, subjects: [`${prefix}.event.>`], max_age: nanos(7 * 24 * 3600 * 1000) },
    { name: names.dead, subjects: [`${prefix}.dead.>`], max_age: nanos(90 * 24 * 3600 * 1000) },
  ];
  for (const config of wanted) {
    const there = await ifThere(jsm.streams.info(config.name), streamNotFound);
    try {
      if (!there) {
        const { name } = config;
        const settings = { ...config, num_replicas: replicas, duplicate_window: nanos(120_000) };
        await made(`The stream ${name}`, () => jsm.streams.add(settings));
      } else if (there.config.num_replicas < replicas) {
        const { name } = config;
        await made(`The stream ${name}`, () => jsm.streams.update(name, { num_replicas: replicas }));
      }
    } catch (error) {
      if (replicas === 1 || !(error instanceof JetStreamApiError) || error.code === unavailable) throw error;
      throw new StartError(
        `NATS cannot store the stream ${config.name} on ${replicas} servers: ${error.message}.`,
        {
          cause: error,
        },
      );
    }
  }
}

/** Deletes a message permanently. Returns `false` if the message does not exist. */
export async function removeMessage(jsm: JetStreamManager, stream: string, seq: number): Promise<boolean> {
  try {
    return await jsm.streams.deleteMessage(stream, seq);
  } catch (error) {
    // The server uses one error code for all failed deletions. So after an error, this function checks whether the message
    // exists.
    if (error instanceof JetStreamApiError && (await jsm.streams.getMessage(stream, { seq })) === null)
      return false;
    throw error;
  }
}
