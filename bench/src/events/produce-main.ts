// Runs one phase of a service that owns events, on NATS and MongoDB. Prints the rate in events per second.
import { createLogger } from '@kith/base';
import { NatsBus } from '@kith/bus/nats';
import { openDocuments } from '@kith/store/open';
import { changeOf, declared } from './produced.ts';
import { type Phase, produce } from './producer.ts';

const { NATS_URL = '', MONGODB_URL = '', KITH_PREFIX = '', PHASE = '', FROM = '', COUNT = '' } = process.env;
const log = createLogger({ name: 'producer', level: 'warn' });
const bus = await NatsBus.connect({ url: NATS_URL, name: 'producer', prefix: KITH_PREFIX, log });
const store = { kind: 'mongo', url: MONGODB_URL, database: `${KITH_PREFIX}_producer` } as const;
const documents = await openDocuments(store, declared);
const rate = await produce(
  {
    bus,
    outbox: documents.outbox,
    async store(events) {
      await documents.change(events.map(changeOf));
    },
  },
  PHASE as Phase,
  { from: Number(FROM), count: Number(COUNT) },
);
await documents.close();
await bus.close();
process.stdout.write(`${rate}\n`);
