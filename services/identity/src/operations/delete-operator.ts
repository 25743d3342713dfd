import { ApiError } from '@kith/base';
import { deleteOperator } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';

/** Removes an operator key, and informs gateways of the removal (spec#operator-keys-endpoints). */
export const deleteOperatorHandler = handler(deleteOperator, async ({ params, audit }, app: AppContext) => {
  audit.tell({ target: `operator-key:${params.keyId}` });
  const key = await app.store.apiKeys.remove(null, params.keyId);
  if (!key) throw new ApiError('auth/key-not-found');
  app.notices.tellApiKey(key.hash, null);
  return undefined;
});
