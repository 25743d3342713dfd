import type { OwnUser, PublicUser } from '@kith/contracts';
import type { User } from './store/records.ts';

/**
 * The part of a user that everybody may see (spec#users-public). The user is copied field by field, so that no other field can
 * get into an answer.
 */
export function publicUserOf(user: User): PublicUser {
  return {
    id: user.id,
    foreignId: user.foreignId,
    projectId: user.projectId,
    role: user.role,
    name: user.name,
    username: user.username,
    avatar: user.avatar,
    bannerFileId: user.bannerFileId,
    avatarFileId: user.avatarFileId,
    bio: user.bio,
    birthdate: user.birthdate,
    location: user.location,
    metadata: user.metadata,
    reputation: user.reputation,
    createdAt: user.createdAt.toISOString(),
  };
}

/** A user's full profile, as the user sees it (spec#users-own). */
export function ownUserOf(user: User): OwnUser {
  return {
    ...publicUserOf(user),
    email: user.email,
    isVerified: user.isVerified,
    isActive: user.isActive,
    lastActive: user.lastActive?.toISOString() ?? null,
    updatedAt: user.updatedAt.toISOString(),
  };
}
