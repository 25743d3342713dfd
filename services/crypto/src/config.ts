import { flag } from '@kith/base';
import { serviceConfig } from '@kith/service';
import { z } from 'zod';

/** What a crypto process reads from its environment. */
export const cryptoConfig = z.object({
  ...serviceConfig.shape,
  TOKEN_AUDIENCE: z
    .string()
    .default('kith.dev')
    .describe('`aud` of tokens: the domain this platform runs under'),
  ALLOW_TEST_TOKENS: flag.default(false).describe('sign test tokens with `NODE_ENV=production` too'),
});

/**
 * Whether test tokens are signed. Outside production, they are always signed. In production, `ALLOW_TEST_TOKENS` decides
 * (spec#test-tokens-production).
 */
export function testTokensAllowed(
  config: Pick<z.output<typeof cryptoConfig>, 'NODE_ENV' | 'ALLOW_TEST_TOKENS'>,
): boolean {
  return config.NODE_ENV !== 'production' || config.ALLOW_TEST_TOKENS;
}
