import { signTestingJwt as spec } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { signTestToken } from '../test-token.ts';

/** Signs a token for tests (spec#test-tokens-sign). */
export const signTestingJwt = handler(spec, async ({ body }, app: AppContext) => ({
  token: await signTestToken(body, app),
}));
