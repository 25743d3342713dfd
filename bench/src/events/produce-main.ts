// A service that owns events, on NATS and MongoDB, through one phase. Prints events a second.
import {
  createLogger,
  eventsIndexes,
  MongoOutbox,
  marksIndexes,
  NatsBus,
  openMongo,
  outboxFields,
  outboxIndex,
} from '@kith/service';
import { type Phase, produce } from './producer.ts';

const { NATS_URL = '', MONGODB_URL = '', KITH_PREFIX = '', PHASE = '', FROM = '', COUNT = '' } = process.env;
const log = createLogger({ name: 'producer', level: 'warn' });
const bus = await NatsBus.connect({ url: NATS_URL, name: 'producer', prefix: KITH_PREFIX, log });
const schema = {
  version: 1,
  collections: { users: [outboxIndex], events: eventsIndexes, marks: marksIndexes },
};
const { db, close } = await openMongo({ url: MONGODB_URL, database: `${KITH_PREFIX}_producer`, schema });
const rate = await produce(
  {
    bus,
    outbox: new MongoOutbox(db, ['users']),
    async store(events) {
      const documents = events.map((event) => ({ _id: event.id, ...outboxFields([event]) }));
      await db.collection<{ _id: string }>('users').insertMany(documents, { ordered: false });
    },
  },
  PHASE as Phase,
  { from: Number(FROM), count: Number(COUNT) },
);
await close();
await bus.close();
process.stdout.write(`${rate}\n`);
