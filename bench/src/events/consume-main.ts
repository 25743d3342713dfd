// Runs the service that consumes the events, on NATS and MongoDB. It answers a request on `<prefix>.bench.count` with the
// number of events that it has applied. It answers a request on `<prefix>.bench.take` with all figures about these events (see
// `Applied` in lags.ts), and then counts from 0 again.
import { createLogger } from '@kith/base';
import { NatsBus } from '@kith/bus/nats';
import { runProcess } from '@kith/service';
import { startConsumer } from './consumer.ts';
import { Lags } from './lags.ts';

await runProcess('connections', async ({ NATS_URL = '', MONGODB_URL = '', KITH_PREFIX = '', MOST = '' }) => {
  const log = createLogger({ name: 'connections', level: 'warn' });
  const bus = await NatsBus.connect({ url: NATS_URL, name: 'connections', prefix: KITH_PREFIX, log });
  const lags = new Lags(Number(MOST));
  const answer = (subject: string, of: () => unknown) =>
    bus.serve(`${KITH_PREFIX}.bench.${subject}`, 'bench', async () => ({
      headers: {},
      body: new TextEncoder().encode(JSON.stringify(of())),
    }));
  await answer('count', () => lags.count);
  await answer('take', () => lags.take());
  const store = { kind: 'mongo', url: MONGODB_URL, database: `${KITH_PREFIX}_connections` } as const;
  const service = await startConsumer(bus, { store, lags, system: 'nats' });
  return {
    log,
    async stop() {
      await service.stop();
      await bus.close();
    },
  };
});
