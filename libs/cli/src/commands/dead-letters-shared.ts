import { openDataFolder } from '@kith/platform';
import { type Bus, createLogger, InProcessBus, NatsBus, readConfig } from '@kith/service';
import { z } from 'zod';
import type { Surroundings } from '../command.ts';

const config = z.object({
  NATS_URL: z.string().optional(),
  NATS_NKEY: z.string().optional(),
  KITH_PREFIX: z.string().default('kith'),
  KITH_DATA: z.string().default('.kith'),
});

/** What `--help` says of where the events are. */
export const busHelp = `On NATS_URL, with the operator's user where there are users (NATS_NKEY_FILE); without it, in the data folder of an
embedded platform that is stopped (KITH_DATA).`;

/** Opens the bus that has the dead letters, for one piece of work. */
export async function withBus<T>({ env }: Surroundings, work: (bus: Bus) => Promise<T>): Promise<T> {
  const { NATS_URL, NATS_NKEY, KITH_PREFIX: prefix, KITH_DATA } = readConfig(config, env);
  const log = createLogger({ name: 'kith', level: 'silent' });
  if (NATS_URL) {
    const bus = await NatsBus.connect({ url: NATS_URL, nkeySeed: NATS_NKEY, name: 'operator', prefix, log });
    return work(bus).finally(() => bus.close());
  }
  const folder = openDataFolder(KITH_DATA);
  const bus = new InProcessBus({ prefix, file: folder.file('events.sqlite'), log });
  return work(bus).finally(async () => {
    await bus.close();
    folder.release();
  });
}
