import { runServiceMain, storeOf } from '@kith/service';
import { identityConfig } from './config.ts';
import { startIdentity } from './service.ts';

await runServiceMain('identity', identityConfig, (runtime, config) =>
  startIdentity(runtime, {
    store: storeOf('identity', config),
    tokenIssuer: config.TOKEN_ISSUER,
    tokenAudience: config.TOKEN_AUDIENCE,
    erasuresFile: config.ERASURES_FILE,
  }),
);
