import type { PublicUser } from '@kith/contracts';

/**
 * Makes a placeholder in a list for a user who cannot be found. The entry stays in the list. Without the entry, pages, totals
 * and cursors would contradict each other. Also, the list's owner could not end a connection that still exists. `createdAt` is
 * the latest time at which the user can have been created.
 */
export function unknownUser(projectId: string, id: string, existedBy: Date): PublicUser {
  return {
    id,
    foreignId: null,
    projectId,
    role: 'visitor',
    name: null,
    username: null,
    avatar: null,
    bannerFileId: null,
    avatarFileId: null,
    bio: null,
    birthdate: null,
    location: null,
    metadata: {},
    reputation: 0,
    createdAt: existedBy.toISOString(),
  };
}
