import { type RunningService, type ServiceRuntime, serviceManifest, startService } from '@kith/service';
import type { AppContext } from './app.ts';
import { cryptoConfig, testTokensAllowed } from './config.ts';
import { closed } from './operations/closed.ts';
import * as operations from './operations/index.ts';
import { SigningKeys } from './signing-keys.ts';

export interface CryptoOptions {
  /** The `aud` of signed tokens. */
  tokenAudience?: string;
  /**
   * Whether test tokens are signed. If this is `false`, the operations answer `route/not-found` (spec#test-tokens-production).
   */
  allowTestTokens: boolean;
}

export const manifest = serviceManifest<AppContext>()({
  name: 'crypto',
  config: cryptoConfig,
  operations,
  start: (runtime, { config }) =>
    startCrypto(runtime, {
      tokenAudience: config.TOKEN_AUDIENCE,
      allowTestTokens: testTokensAllowed(config),
    }),
});

/** Starts the crypto service: it signs test tokens and stores nothing. */
export function startCrypto(runtime: ServiceRuntime, options: CryptoOptions): Promise<RunningService> {
  const { tokenAudience = 'kith.dev', allowTestTokens } = options;
  const keys = new SigningKeys();
  const closedOnes = Object.entries(operations).map(([name, { spec }]) => [name, closed(spec)]);
  return startService<AppContext>(
    runtime,
    allowTestTokens ? manifest : { ...manifest, operations: Object.fromEntries(closedOnes) },
    { app: { tokenAudience, keys }, close: async () => keys.clear() },
  );
}
