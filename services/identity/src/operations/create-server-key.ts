import { randomUUID } from 'node:crypto';
import { ApiError, hashApiKey, makeApiKey } from '@kith/base';
import { createServerKey } from '@kith/contracts';
import { handler } from '@kith/service';
import { gatewayKeyOf } from '../api-key-views.ts';
import type { AppContext } from '../app.ts';
import type { ApiKey } from '../store/index.ts';

/** Makes a server key of a project; only this answer contains the key (spec#server-keys-endpoints, spec#server-keys-key). */
export const createServerKeyHandler = handler(createServerKey, async (request, app: AppContext) => {
  const { projectId } = request.params;
  if (!(await app.store.projects.find(projectId))) throw new ApiError('project/not-found');
  const key = makeApiKey('server');
  const made: ApiKey = {
    id: randomUUID(),
    projectId,
    hash: hashApiKey(key),
    name: request.body.name,
    scopes: [],
    projectIds: null,
    expiresAt: null,
    createdAt: new Date(),
  };
  request.audit.tell({ target: `server-key:${made.id}` });
  await app.store.apiKeys.add(made);
  app.notices.tellApiKey(made.hash, gatewayKeyOf(made));
  return { id: made.id, name: made.name, key, createdAt: made.createdAt.toISOString() };
});
