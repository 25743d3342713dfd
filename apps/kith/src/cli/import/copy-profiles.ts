import { rebuildConnectionsProfiles } from '@kith/contracts';
import type { PlatformAccess } from '../platform-access.ts';

/**
 * Asks the connections service to copy the profiles of a project. An import of users publishes no events, so the copy lacks the
 * new users. Without this step, the first lists and searches would have to ask identity for the profiles. The notifications
 * service has a copy, too. Its copy can wait: an import makes no notifications, so nothing there shows the new users yet.
 */
export async function copyProfiles(access: PlatformAccess, projectId: string): Promise<void> {
  let after: string | null = null;
  do {
    const body = { after, projectId };
    const page: { next: string | null } = await access.call('POST', rebuildConnectionsProfiles.path, body);
    after = page.next;
  } while (after !== null);
}
