// `npm run dead-letters -- list|replay <durable>`: the events a consumer has given up. On NATS_URL, with the operator's
// user where there are users (NATS_NKEY_FILE); without it, in the data folder of an embedded platform that is stopped.

import { openDataFolder } from '@kith/platform';
import { type Bus, createLogger, InProcessBus, NatsBus, readConfig, StartError } from '@kith/service';
import { z } from 'zod';

const config = z.object({
  NATS_URL: z.string().optional(),
  NATS_NKEY: z.string().optional(),
  KITH_PREFIX: z.string().default('kith'),
  KITH_DATA: z.string().default('.kith'),
});

const [action, durable] = process.argv.slice(2);
try {
  if ((action !== 'list' && action !== 'replay') || !durable) {
    throw new StartError('Say what to do: dead-letters list <durable>, or dead-letters replay <durable>.');
  }
  const bus = await openBus();
  if (action === 'replay') console.log(`${await bus.replayDeadLetters(durable)} published again`);
  else {
    for (const letter of await bus.deadLetters(durable)) {
      const event = JSON.parse(new TextDecoder().decode(letter.body));
      console.log(JSON.stringify({ subject: letter.subject, error: letter.error, event }));
    }
  }
  await bus.close();
} catch (error) {
  console.error(error instanceof StartError ? error.message : error);
  process.exit(1);
}

async function openBus(): Promise<Bus> {
  const { NATS_URL, NATS_NKEY, KITH_PREFIX: prefix, KITH_DATA } = readConfig(config, process.env);
  const log = createLogger({ name: 'dead-letters', level: 'error' });
  if (NATS_URL) return NatsBus.connect({ url: NATS_URL, nkeySeed: NATS_NKEY, name: 'operator', prefix, log });
  const folder = openDataFolder(KITH_DATA);
  return new InProcessBus({ prefix, file: folder.file('events.sqlite'), log });
}
