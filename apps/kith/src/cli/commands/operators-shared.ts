import type { OperatorKey } from '@kith/contracts';
import type { Result } from '../command.ts';
import { tableOf } from '../table.ts';

/** Shows operator keys. */
export function operatorsResult(keys: readonly OperatorKey[]): Result {
  const text = tableOf(keys, {
    id: ({ id }) => id,
    name: ({ name }) => name,
    scopes: ({ scopes }) => scopes.join(' '),
    projects: ({ projectIds }) => projectIds?.join(' ') ?? 'all',
    created: ({ createdAt }) => createdAt,
    expires: ({ expiresAt }) => expiresAt ?? 'never',
    'last used': ({ lastUsedAt }) => lastUsedAt ?? 'never',
  });
  return { value: keys, text };
}
