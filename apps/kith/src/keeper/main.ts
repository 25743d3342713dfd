// Makes the streams and consumers of NATS, and makes lost ones again. No service has the right to make them.
import { createLogger, Metrics, readConfig, startInternalServer } from '@kith/base';
import { refusePlainEngines, runProcess, serviceConfig } from '@kith/service';
import { consumersOf } from './consumers.ts';

const name = 'keeper';

await runProcess(name, async (env) => {
  const config = readConfig(serviceConfig, env);
  refusePlainEngines(config);
  const log = createLogger({ name, level: config.LOG_LEVEL });
  const prefix = config.KITH_PREFIX;
  const { keepStreams } = await import('@kith/bus/nats');
  const keeper = await keepStreams({
    ...{ name, prefix, log, url: config.NATS_URL, nkeySeed: config.NATS_NKEY },
    ...{ replicas: config.NATS_STREAM_REPLICAS, consumers: consumersOf(prefix) },
  });
  const internal = await startInternalServer({
    ...{ host: config.INTERNAL_HOST, port: config.INTERNAL_PORT, metrics: new Metrics({ process: true }) },
    notReady: async () => (keeper.isKept() ? [] : ['streams']),
  });
  log.info({ internalPort: internal.port }, 'ready');
  return {
    log,
    ready: { internalPort: internal.port },
    async stop() {
      await internal.close();
      await keeper.stop();
    },
  };
});
