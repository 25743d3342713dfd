// A process that logs during its start, and then runs until it is asked to end.
import { createLogger } from '@kith/base';
import { startProcess } from '@kith/service';

await startProcess('logs-early', async () => {
  const log = createLogger({ name: 'logs-early', level: 'info' });
  log.info('first');
  log.info('second');
  log.fatal('third');
  const running = setInterval(() => undefined, 1_000);
  return { log, stop: async () => clearInterval(running) };
});
