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
 * Returns the caller, if there is one. Requires a token if there is no caller and the project shows the requested data only to
 * its users. The error of this refusal is that of an operation which always needs a token (spec#auth-unauthorized,
 * spec#projects-public-profiles, spec#projects-public-connections). Call this only after the settings of projects are loaded:
 * the default settings could show data that the project hides.
 */
export async function callerFor(
  { operation }: Extract<Address, { kind: 'operation' }>,
  { projectId, caller }: Scope,
  parts: { callers: Callers; projects: ProjectSettings; authorization: string | undefined },
): Promise<ScopedCaller | null> {
  const { visibility } = operation;
  if (!visibility || caller) return caller;
  const { callers, projects, authorization } = parts;
  if (isPublic[visibility](projects.of(projectId))) return caller;
  return callers.identify(authorization, { operation: { ...operation, auth: 'user' }, projectId });
}
