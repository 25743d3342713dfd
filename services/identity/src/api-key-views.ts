import type { ApiKey as GatewayKey, OperatorKey, ServerKey } from '@kith/contracts';
import type { ApiKey, ListedApiKey } from './store/index.ts';

/** What an operator key may do. */
export function rightsOf({
  scopes,
  projectIds,
  expiresAt,
}: ApiKey): Pick<OperatorKey, 'scopes' | 'projectIds' | 'expiresAt'> {
  return {
    scopes: [...scopes],
    projectIds: projectIds && [...projectIds],
    expiresAt: expiresAt?.toISOString() ?? null,
  };
}

/** An operator key as operators see it (spec#operator-keys-endpoints). */
export function operatorKeyOf(key: ListedApiKey): OperatorKey {
  return {
    id: key.id,
    name: key.name,
    ...rightsOf(key),
    createdAt: key.createdAt.toISOString(),
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
  };
}

/** A server key as operators see it (spec#server-keys-endpoints). */
export function serverKeyOf(key: ListedApiKey): ServerKey {
  const { id, name, createdAt, lastUsedAt } = key;
  return { id, name, createdAt: createdAt.toISOString(), lastUsedAt: lastUsedAt?.toISOString() ?? null };
}

/** A key in the form that gateways get. */
export function gatewayKeyOf(key: ApiKey): GatewayKey {
  const { id, projectId } = key;
  if (projectId !== null) return { kind: 'server', id, projectId };
  return { kind: 'operator', id, ...rightsOf(key) };
}
