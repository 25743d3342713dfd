import { type RunningService, type ServiceRuntime, startService } from '@kith/service';
import { closed } from './operations/closed.ts';
import { signTestingJwt } from './operations/sign-testing-jwt.ts';
import { signTestingJwtV2 } from './operations/sign-testing-jwt-v2.ts';
import { SigningKeys } from './signing-keys.ts';

export interface CryptoOptions {
  /** The `aud` of signed tokens. */
  tokenAudience?: string;
  /** Whether test tokens are signed; where not, the operation answers `route/not-found` (spec#test-tokens-production). */
  allowTestTokens: boolean;
}

const operations = [signTestingJwt, signTestingJwtV2];

/** Starts the crypto service: it signs test tokens and stores nothing. */
export function startCrypto(runtime: ServiceRuntime, options: CryptoOptions): Promise<RunningService> {
  const { tokenAudience = 'kith.dev', allowTestTokens } = options;
  const keys = new SigningKeys();
  return startService(runtime, {
    name: 'crypto',
    app: { tokenAudience, keys },
    operations: allowTestTokens ? operations : operations.map(({ spec }) => closed(spec)),
    close: async () => keys.clear(),
  });
}
