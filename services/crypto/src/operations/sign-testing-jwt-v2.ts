import { signTestingJwtV2 as spec } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { signTestToken } from '../test-token.ts';

/** Signs a token for tests and answers with the bare token (spec#existing-clients-sign). */
export const signTestingJwtV2 = handler(spec, async ({ body }, app: AppContext) => {
  const { userData: payload, projectId, privateKey } = body;
  return signTestToken({ payload, projectId, privateKey }, app);
});
