import { ApiError } from '@kith/base';
import { deleteServerKey } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';

/** Removes a server key, and informs gateways of the removal (spec#server-keys-endpoints). */
export const deleteServerKeyHandler = handler(deleteServerKey, async ({ params, audit }, app: AppContext) => {
  audit.tell({ target: `server-key:${params.keyId}` });
  const key = await app.store.apiKeys.remove(params.projectId, params.keyId);
  if (!key) throw new ApiError('auth/key-not-found');
  app.notices.tellApiKey(key.hash, null);
  return undefined;
});
