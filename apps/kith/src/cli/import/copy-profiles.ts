import { rebuildConnectionsProfiles, rebuildNotificationsProfiles } from '@kith/contracts';
import type { PlatformAccess } from '../platform-access.ts';

/**
 * Has the services that keep copies of profiles copy those of a project: imported users have told no event, and a search
 * looks into the copy alone.
 */
export async function copyProfiles(access: PlatformAccess, projectId: string): Promise<void> {
  const copies = [rebuildConnectionsProfiles, rebuildNotificationsProfiles];
  await Promise.all(copies.map(({ path }) => copyOne(access, path, projectId)));
}

async function copyOne(access: PlatformAccess, path: string, projectId: string): Promise<void> {
  // Users are walked by project and id: the project's follow this position, and the walk ends with them.
  const own = `${projectId}|`;
  for (let after: string | null = own; after?.startsWith(own); ) {
    const page: { next: string | null } = await access.call('POST', path, { after });
    after = page.next;
  }
}
