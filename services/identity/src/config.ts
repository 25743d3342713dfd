import { storingServiceConfig } from '@kith/service';
import { z } from 'zod';

/** The environment of the service as a process of its own. */
export const identityConfig = z.object({
  ...storingServiceConfig.shape,
  TOKEN_ISSUER: z.string().default('kith').describe('`iss` of the access tokens identity signs'),
  TOKEN_AUDIENCE: z.string().default('kith.dev').describe('`aud` of signed tokens: the own domain'),
});
