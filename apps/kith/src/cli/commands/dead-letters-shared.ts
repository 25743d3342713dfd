import { readConfig, StartError } from '@kith/base/config';
import type { Bus } from '@kith/bus';
import { commonConfig, natsConfig } from '@kith/service/config';
import { z } from 'zod';
import { dataFolderConfig } from '../../forms/data-folder-config.ts';
import type { Surroundings, Word } from '../command.ts';
import { requireInstallation } from '../data-folder.ts';
import { nearest } from '../near.ts';

/** Settings that say where the bus is. */
export const busConfig = z.object({
  NATS_URL: natsConfig.shape.NATS_URL.optional().describe('NATS server of the distributed form'),
  NATS_NKEY: natsConfig.shape.NATS_NKEY.describe('seed of the operator’s NATS user'),
  KITH_PREFIX: commonConfig.shape.KITH_PREFIX,
  KITH_DATA: dataFolderConfig.shape.KITH_DATA,
});

export const consumer: Word = { value: 'CONSUMER', what: 'consumer, for example connections-profiles' };

/**
 * Throws `StartError` if no service has this consumer. Callers look for dead letters first, because a consumer that no longer
 * exists may still have dead letters.
 */
export async function requireConsumer(name: string): Promise<void> {
  const { durables: known } = await import('../../services.ts');
  if (known.includes(name)) return;
  const near = nearest(name, known);
  const advice = near === undefined ? `The consumers are: ${known.join(', ')}.` : `Did you mean ${near}?`;
  throw new StartError(`There is no consumer ${name}. ${advice}`);
}

/** The part of `--help` that explains where the events are. */
export const busHelp = `Uses NATS_URL, and NATS_NKEY if NATS has users. Without NATS_URL it opens the data folder of an embedded platform
(KITH_DATA); stop the platform first.`;

/** Opens the bus that has the dead letters, does some work with the bus, and closes it. */
export async function withBus<T>(
  { env }: Pick<Surroundings, 'env'>,
  work: (bus: Bus) => Promise<T>,
): Promise<T> {
  const { NATS_URL, NATS_NKEY, KITH_PREFIX: prefix, KITH_DATA } = readConfig(busConfig, env);
  const { createLogger } = await import('@kith/base');
  const { InProcessBus } = await import('@kith/bus/in-process');
  const log = createLogger({ name: 'kith', level: 'silent' });
  if (NATS_URL) {
    const { NatsBus } = await import('@kith/bus/nats');
    const bus = await NatsBus.connect({ url: NATS_URL, nkeySeed: NATS_NKEY, name: 'operator', prefix, log });
    return work(bus).finally(() => bus.close());
  }
  const { runsDistributed } = await import('../../forms/running.ts');
  if (runsDistributed(KITH_DATA)) {
    throw new StartError(
      `The distributed form runs on ${KITH_DATA}. Set NATS_URL and NATS_NKEY to reach its events (docs/transport.md).`,
    );
  }
  const { openDataFolder } = await import('../../forms/data-folder.ts');
  requireInstallation(KITH_DATA, 'events.sqlite');
  const folder = openDataFolder(KITH_DATA);
  const bus = new InProcessBus({ prefix, file: folder.file('events.sqlite'), log });
  return work(bus).finally(async () => {
    await bus.close();
    folder.release();
  });
}
