import { StartError } from '@kith/base';
import { AckPolicy, DeliverPolicy, JetStreamApiError, type JetStreamManager } from '@nats-io/jetstream';
import { nanos, PermissionViolationError } from '@nats-io/transport-node';
import type { ConsumeOptions } from './bus.ts';

/** A stream or consumer is missing, and this process has no right to create it. The keeper creates it (docs/adr/0056). */
export class MayNotMake extends StartError {
  override name = 'MayNotMake';
}

/** Creates or changes a stream or consumer. Throws `MayNotMake` if the NATS user has no right to do so. */
export async function made(what: string, make: () => Promise<unknown>): Promise<void> {
  try {
    await make();
  } catch (error) {
    if (!isRefused(error)) throw error;
    throw new MayNotMake(
      `${what} is missing, or differs from what this version needs. Start the keeper of this version first.`,
      {
        cause: error,
      },
    );
  }
}

function isRefused(error: unknown): boolean {
  return (
    error instanceof PermissionViolationError || (error as Error).cause instanceof PermissionViolationError
  );
}

/**
 * Creates a durable consumer, or adds missing subjects to an existing consumer. Never removes a subject: during an upgrade, two
 * versions run at the same time, and each version needs its own subjects.
 */
export async function ensureConsumer(
  jsm: JetStreamManager,
  stream: string,
  { durable, subjects, ackWaitMs }: Pick<Required<ConsumeOptions>, 'durable' | 'subjects' | 'ackWaitMs'>,
): Promise<void> {
  const there = await ifThere(jsm.consumers.info(stream, durable), consumerNotFound);
  if (!there) {
    await made(`The consumer ${durable}`, () =>
      jsm.consumers.add(stream, {
        durable_name: durable,
        filter_subjects: [...subjects],
        ack_policy: AckPolicy.Explicit,
        ack_wait: nanos(ackWaitMs),
        deliver_policy: DeliverPolicy.All,
        max_ack_pending: unlimited,
      }),
    );
    return;
  }
  const { filter_subjects = [], filter_subject, max_ack_pending } = there.config;
  const present = filter_subject ? [filter_subject] : filter_subjects;
  const all = [...new Set([...present, ...subjects])];
  if (all.length === present.length && max_ack_pending === unlimited) return;
  await made(`The consumer ${durable}`, () =>
    jsm.consumers.update(stream, durable, { filter_subjects: all, max_ack_pending: unlimited }),
  );
}

/**
 * Resolves to `undefined` if NATS answers that a stream or a consumer does not exist. Any other error, such as a timeout, does
 * not say whether it exists, so this function throws the error.
 */
export async function ifThere<T>(
  answer: Promise<T>,
  notFound: typeof consumerNotFound | typeof streamNotFound,
): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === notFound) return undefined;
    throw error;
  }
}

/**
 * There is no limit for events that are delivered but not acknowledged. Events that wait for their next attempt are among these
 * events. So events that cannot be applied could reach such a limit, and stop all other events for a quarter of an hour
 * (docs/adr/0029). A process works on no more events at the same time than it has fetched.
 */
const unlimited = -1;

/** JetStream's error code for a consumer that does not exist. */
export const consumerNotFound = 10014;
/** JetStream's error code for a stream that does not exist. */
export const streamNotFound = 10059;
