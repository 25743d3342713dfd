import type { Visibility } from '@kith/contracts';
import type { Address } from '../routes/address.ts';
import type { ProjectSettings, Settings } from '../tables/project-settings.ts';
import type { Callers, ScopedCaller } from './caller.ts';
import type { Scope } from './short-form.ts';

const isPublic: Record<Visibility, (settings: Settings) => boolean> = {
  profiles: ({ publicProfiles }) => publicProfiles !== 'none',
  connections: ({ publicConnections }) => publicConnections,
};

/**
 * Returns the caller. If there is none, and the project shows only to its users what is asked for, requires a token, with the
 * same refusals as operations that always need one (spec#auth-unauthorized, spec#projects-public-profiles,
 * spec#projects-public-connections). Throws `gateway/unavailable` while projects' settings are not known yet.
 */
export async function callerFor(
  { operation }: Extract<Address, { kind: 'operation' }>,
  { projectId, caller }: Scope,
  parts: { callers: Callers; projects: ProjectSettings; authorization: string | undefined },
): Promise<ScopedCaller | null> {
  const { visibility } = operation;
  if (!visibility || caller) return caller;
  const { callers, projects, authorization } = parts;
  // Serving by the default would show what a project may hide.
  await projects.loaded();
  if (isPublic[visibility](projects.of(projectId))) return caller;
  return callers.identify(authorization, { operation: { ...operation, auth: 'user' }, projectId });
}
