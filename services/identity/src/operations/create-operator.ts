import { randomUUID } from 'node:crypto';
import { ApiError, hashApiKey, makeApiKey } from '@kith/base';
import { createOperator } from '@kith/contracts';
import { handler } from '@kith/service';
import { gatewayKeyOf, rightsOf } from '../api-key-views.ts';
import type { AppContext } from '../app.ts';
import type { ApiKey } from '../store/index.ts';

/** Makes an operator key; only this answer contains its token (spec#operator-keys-endpoints, spec#operator-keys-secret). */
export const createOperatorHandler = handler(createOperator, async ({ body, audit }, app: AppContext) => {
  const expiresAt = body.expiresAt ? new Date(body.expiresAt) : null;
  if (expiresAt !== null && expiresAt.getTime() <= Date.now()) throw refused('expiresAt', 'be in the future');
  const projectIds = body.projectIds ?? null;
  const found = await Promise.all((projectIds ?? []).map((id) => app.store.projects.find(id)));
  if (found.includes(null)) throw refused('projectIds', 'name projects of this server');
  const token = makeApiKey('operator');
  const key: ApiKey = {
    id: randomUUID(),
    projectId: null,
    hash: hashApiKey(token),
    name: body.name,
    scopes: body.scopes,
    projectIds,
    expiresAt,
    createdAt: new Date(),
  };
  audit.tell({ target: `operator-key:${key.id}` });
  await app.store.apiKeys.add(key);
  app.notices.tellApiKey(key.hash, gatewayKeyOf(key));
  return { id: key.id, name: key.name, ...rightsOf(key), token };
});

function refused(field: string, rule: string): ApiError {
  return new ApiError('auth/invalid-body', { message: `${field} must ${rule}.`, field });
}
