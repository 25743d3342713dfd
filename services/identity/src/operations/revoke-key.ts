import { ApiError } from '@kith/base';
import { revokeKey } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { keysAnswer } from './rotate-keys.ts';

/**
 * Takes a signing key of access tokens out of use, informs gateways and replicas of this, and returns the remaining keys
 * (spec#signing-keys-revoke).
 */
export const revokeKeyHandler = handler(revokeKey, async ({ body: { kid }, audit }, app: AppContext) => {
  audit.tell({ target: `key:${kid}` });
  if (!(await app.keys.revoke(kid))) throw new ApiError('auth/key-not-found');
  app.notices.tell({ keys: [kid] });
  return keysAnswer(app);
});
