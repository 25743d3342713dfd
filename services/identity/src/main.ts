import { runServiceMain } from '@kith/service';
import { identityConfig } from './config.ts';
import { startIdentity } from './service.ts';

await runServiceMain('identity', identityConfig, (runtime, config) =>
  startIdentity(runtime, {
    store: { kind: 'mongo', url: config.MONGODB_URL, database: `${config.KITH_PREFIX}_identity` },
    tokenIssuer: config.TOKEN_ISSUER,
    tokenAudience: config.TOKEN_AUDIENCE,
    erasuresFile: config.ERASURES_FILE,
  }),
);
