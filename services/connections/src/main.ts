import { runServiceMain, storingServiceConfig } from '@kith/service';
import { startConnections } from './service.ts';

await runServiceMain('connections', storingServiceConfig, (runtime, config) =>
  startConnections(runtime, {
    store: { kind: 'mongo', url: config.MONGODB_URL, database: `${config.KITH_PREFIX}_connections` },
  }),
);
