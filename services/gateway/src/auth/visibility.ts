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
 * Gives who calls, and asks for a token where the project keeps what is asked for to its users: it is refused as where a
 * token is needed always (spec#auth-unauthorized, spec#projects-public-profiles,
 * spec#projects-public-connections). Throws `gateway/unavailable` while
 * nothing is known of projects' settings.
 */
export async function callerFor(
  { operation }: Extract<Address, { kind: 'operation' }>,
  { projectId, caller }: Scope,
  parts: { callers: Callers; projects: ProjectSettings; authorization: string | undefined },
): Promise<ScopedCaller | null> {
  const { visibility } = operation;
  if (!visibility || caller) return caller;
  const { callers, projects, authorization } = parts;
  // To serve by the default would show what a project hides.
  await projects.loaded();
  if (isPublic[visibility](projects.of(projectId))) return caller;
  return callers.identify(authorization, { operation: { ...operation, auth: 'user' }, projectId });
}
