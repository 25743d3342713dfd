import { jetstreamManager } from '@nats-io/jetstream';
import { type ConsumeOptions, defaultDelivery } from './bus.ts';
import { firstConnection, type NatsBusOptions } from './nats-connection.ts';
import { ensureConsumer } from './nats-durables.ts';
import { ensureStreams } from './nats-streams.ts';
import { streamNames } from './stream-names.ts';

/** Makes sure that the streams and consumers of a platform exist. */
export interface NatsKeeper extends AsyncDisposable {
  /** Whether all streams and consumers existed at the keeper's last check. */
  isKept(): boolean;
  stop(): Promise<void>;
}

/**
 * How often the keeper checks the streams and consumers, in ms. A process whose consumer is missing waits about this long for a
 * new one.
 */
const everyMs = 1_000;

/**
 * Creates the streams and consumers of a platform, and creates them again if the broker has lost them. So services do not need
 * the right to create them (docs/adr/0056). Resolves when all of them exist. Throws `StartError`.
 */
export async function keepStreams(
  options: NatsBusOptions & { consumers: readonly Pick<ConsumeOptions, 'durable' | 'subjects'>[] },
): Promise<NatsKeeper> {
  const { prefix, replicas = 1, consumers, log } = options;
  const nc = await firstConnection(options);
  const jsm = await jetstreamManager(nc, { checkAPI: false, timeout: 5_000 });
  const stream = streamNames(prefix).events;
  const { ackWaitMs } = defaultDelivery;
  const ensure = async (wanted: typeof consumers) => {
    for (const one of wanted) await ensureConsumer(jsm, stream, { ...one, ackWaitMs });
  };
  const look = async () => {
    await ensureStreams(jsm, prefix, replicas);
    const there = new Set<string>();
    for await (const { name } of jsm.consumers.list(stream)) there.add(name);
    await ensure(consumers.filter(({ durable }) => !there.has(durable)));
  };
  let [isKept, isLooking] = [true, false];
  try {
    await ensureStreams(jsm, prefix, replicas);
    // Checks all consumers, because an existing consumer may have fewer subjects than this version needs.
    await ensure(consumers);
  } catch (error) {
    await nc.close();
    throw error;
  }
  const timer = setInterval(async () => {
    if (isLooking) return;
    isLooking = true;
    try {
      await look();
      isKept = true;
    } catch (error) {
      if (isKept) log.warn({ err: error }, 'could not check the streams and consumers of NATS; trying again');
      isKept = false;
    } finally {
      isLooking = false;
    }
  }, everyMs);
  const stop = async () => {
    clearInterval(timer);
    await nc.close();
  };
  return { isKept: () => isKept, stop, [Symbol.asyncDispose]: stop };
}
