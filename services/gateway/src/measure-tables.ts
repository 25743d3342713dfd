import type { Metrics } from '@kith/base';
import type { Revocations } from './auth/revocations.ts';
import type { ApiKeys } from './tables/api-keys.ts';
import type { ProjectSettings } from './tables/project-settings.ts';

/**
 * Makes the metrics report the size and age of the tables that the gateway copies from identity. Returns a function that ends
 * these reports.
 */
export function measureTables(
  metrics: Metrics,
  {
    revocations,
    projects,
    apiKeys,
  }: { revocations: Revocations; projects: ProjectSettings; apiKeys: ApiKeys },
): () => void {
  const { tableEntries, tableAge } = metrics;
  const watched = [
    tableEntries.watch({ table: 'revoked_sessions' }, () => revocations.sizes.sessions),
    tableEntries.watch({ table: 'suspended_users' }, () => revocations.sizes.users),
    tableEntries.watch({ table: 'project_settings' }, () => projects.size),
    tableEntries.watch({ table: 'api_keys' }, () => apiKeys.size),
    tableAge.watch({ table: 'revocations' }, () => revocations.ageSeconds),
    tableAge.watch({ table: 'project_settings' }, () => projects.ageSeconds),
    tableAge.watch({ table: 'api_keys' }, () => apiKeys.ageSeconds),
  ];
  return () => {
    for (const end of watched) end();
  };
}
