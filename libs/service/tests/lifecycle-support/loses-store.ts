// A process with a service whose store is away.

import { createLogger, Metrics } from '@kith/base';
import { InProcessBus } from '@kith/bus/in-process';
import { runProcess } from '../../src/lifecycle/run-process.ts';
import { startService } from '../../src/lifecycle/service.ts';

await runProcess('loses-store', async () => {
  const log = createLogger({ name: 'loses-store', level: 'error' });
  const bus = new InProcessBus({ prefix: 'test', file: ':memory:', log });
  const runtime = { bus, log, metrics: new Metrics(), nodeEnv: 'test' as const };
  const service = await startService(
    { ...runtime, storeTimes: { everyMs: 10, endAfterMs: 50 } },
    { name: 'test', operations: {} },
    {
      app: undefined,
      checkStore: () => Promise.reject(new Error('away')),
      close: async () => void process.stdout.write('store closed'),
    },
  );
  // Keeps the process alive, as an open connection does.
  setInterval(() => undefined, 1_000);
  return { log, failed: service.failed!, stop: () => service.stop() };
});
