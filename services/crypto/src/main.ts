import { runServiceMain } from '@kith/service';
import { cryptoConfig, testTokensAllowed } from './config.ts';
import { startCrypto } from './service.ts';

await runServiceMain('crypto', cryptoConfig, (runtime, config) =>
  startCrypto(runtime, {
    tokenAudience: config.TOKEN_AUDIENCE,
    allowTestTokens: testTokensAllowed(config),
  }),
);
