import { randomUUID } from 'node:crypto';
import type { User } from '../../src/store/index.ts';

/** A user row with every field filled. */
export function makeUser(fields: Partial<User> = {}): User {
  const id = randomUUID();
  const at = new Date('2026-01-02T03:04:05.678Z');
  return {
    id,
    projectId: randomUUID(),
    foreignId: `f-${id}`,
    email: `${id}@example.org`,
    passwordHash: '$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0c2FsdA$aGFzaA',
    role: 'visitor',
    username: `u.${id.slice(0, 8)}`,
    name: 'Zoë 🦊',
    avatar: 'https://example.org/a.png',
    bio: 'Bio',
    location: 'Ελλάδα',
    birthdate: '1990-02-28',
    metadata: { 'a.b': { $set: [1, null, 'x'] }, '': true },
    bannerFileId: 'banner',
    avatarFileId: 'file',
    reputation: 1.5,
    isVerified: true,
    isActive: true,
    suspendedAt: null,
    sessionEpoch: 0,
    keptSession: null,
    lastActive: at,
    createdAt: at,
    updatedAt: at,
    rev: 1,
    seq: 1,
    ...fields,
  };
}
