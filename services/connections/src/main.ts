import { runServiceMain, storeOf, storingServiceConfig } from '@kith/service';
import { startConnections } from './service.ts';

await runServiceMain('connections', storingServiceConfig, (runtime, config) =>
  startConnections(runtime, { store: storeOf('connections', config) }),
);
