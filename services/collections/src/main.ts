import { runServiceMain, storingServiceConfig } from '@kith/service';
import { startCollections } from './service.ts';

await runServiceMain('collections', storingServiceConfig, (runtime, config) =>
  startCollections(runtime, {
    store: { kind: 'mongo', url: config.MONGODB_URL, database: `${config.KITH_PREFIX}_collections` },
  }),
);
