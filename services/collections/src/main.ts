import { runServiceMain, storeOf, storingServiceConfig } from '@kith/service';
import { startCollections } from './service.ts';

await runServiceMain('collections', storingServiceConfig, (runtime, config) =>
  startCollections(runtime, { store: storeOf('collections', config) }),
);
