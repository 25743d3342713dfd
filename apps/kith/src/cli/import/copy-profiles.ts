import type { rebuildConnectionsProfiles, rebuildNotificationsProfiles } from '@kith/contracts';
import type { PlatformAccess } from '../platform-access.ts';

/**
 * Asks a service that keeps copies of profiles to copy the profiles of a project. An import of users publishes no events, so the
 * copy lacks the new users. Without this step, the service would have to ask identity for each of them, and would fail while
 * identity is away.
 */
export async function copyProfiles(
  access: PlatformAccess,
  { path }: typeof rebuildConnectionsProfiles | typeof rebuildNotificationsProfiles,
  projectId: string,
): Promise<void> {
  let after: string | null = null;
  do {
    const page: { next: string | null } = await access.call('POST', path, { after, projectId });
    after = page.next;
  } while (after !== null);
}
