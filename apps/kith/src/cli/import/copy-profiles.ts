import { rebuildConnectionsProfiles, rebuildNotificationsProfiles } from '@kith/contracts';
import type { PlatformAccess } from '../platform-access.ts';

/**
 * Asks the services that keep copies of profiles to copy the profiles of a project. An import of users publishes no events, so
 * the copies lack the new users. Without this step, the first lists and searches would have to ask identity for the profiles.
 */
export async function copyProfiles(access: PlatformAccess, projectId: string): Promise<void> {
  const copies = [rebuildConnectionsProfiles, rebuildNotificationsProfiles];
  await Promise.all(copies.map(({ path }) => copyOne(access, path, projectId)));
}

async function copyOne(access: PlatformAccess, path: string, projectId: string): Promise<void> {
  let after: string | null = null;
  do {
    const page: { next: string | null } = await access.call('POST', path, { after, projectId });
    after = page.next;
  } while (after !== null);
}
