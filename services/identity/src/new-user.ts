import { randomUUID } from 'node:crypto';
import type { User } from './store/index.ts';

/** A new user under a new id (spec#users-new). */
export function newUser(
  of: Pick<User, 'projectId' | 'foreignId' | 'email' | 'passwordHash'>,
  profile: Pick<User, 'username' | 'name' | 'avatar' | 'bio' | 'location' | 'birthdate' | 'metadata'>,
  at: Date,
): User {
  return {
    ...profile,
    ...of,
    id: randomUUID(),
    role: 'visitor',
    bannerFileId: null,
    avatarFileId: null,
    reputation: 0,
    isVerified: false,
    isActive: true,
    suspendedAt: null,
    sessionEpoch: 0,
    keptSession: null,
    lastActive: at,
    createdAt: at,
    updatedAt: at,
    rev: 1,
    seq: 1,
  };
}
