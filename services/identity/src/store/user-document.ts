import type { DocumentChange, Documents, Stored } from '@kith/store';
import { type StoredUser, users } from './collections/users.ts';
import { lastIn, projectIn, userKey } from './keys-of.ts';
import type { User } from './records.ts';

/** Which of a user's names (e-mail address, username, foreign id) another user already has. */
export type Taken = 'foreign-id-taken' | 'email-taken' | 'username-taken';

/** Reads a user from its document. */
export function userOf({ id, doc }: Stored<StoredUser>): User {
  const { ending, suspendedAt, lastActive, createdAt, updatedAt, ...user } = doc;
  return {
    ...user,
    id: lastIn(id),
    projectId: projectIn(id),
    suspendedAt: dateOf(suspendedAt),
    lastActive: dateOf(lastActive),
    createdAt: new Date(createdAt),
    updatedAt: new Date(updatedAt),
  };
}

/** The document of a new user. */
export function storedOf({ id, projectId, ...user }: User): StoredUser {
  return {
    ...user,
    suspendedAt: user.suspendedAt?.getTime() ?? null,
    lastActive: user.lastActive?.getTime() ?? null,
    createdAt: user.createdAt.getTime(),
    updatedAt: user.updatedAt.getTime(),
    ending: null,
  };
}

export function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}

/** Returns which name is taken, after the database has refused a change because of a taken name. */
export function takenBy({ taken }: { taken: string }): Taken {
  if (taken === 'foreignId') return 'foreign-id-taken';
  return taken === 'email' ? 'email-taken' : 'username-taken';
}

type UserChange = Omit<DocumentChange<StoredUser>, 'in' | 'target'>;

/**
 * Changes a stored user. Returns `stale` if the user is gone or its `rev` is not the given one. If a concurrent write, such as
 * the replacement of a password hash, changes the user but keeps `rev`, tries again.
 * @param change Gets the stored document and returns the change. If `change` returns `null`, nothing changes, and the result is
 * `stale`. `change` may be called several times.
 */
export async function changeUser(
  documents: Documents,
  { projectId, id, rev }: { projectId: string; id: string; rev?: number },
  change: (doc: StoredUser) => UserChange | null | Promise<UserChange>,
): Promise<'stored' | 'stale' | Taken> {
  const key = userKey(projectId, id);
  for (;;) {
    // `settled` first completes the user's last change. So the rows that `change` reads are as new as the document of the user.
    const target = (await documents.get(users, [key], { settled: true })).get(key);
    if (!target || (rev !== undefined && target.doc.rev !== rev)) return 'stale';
    const changed = await change(target.doc);
    if (!changed) return 'stale';
    const [outcome] = await documents.change([{ in: users, target, ...changed }]);
    if (outcome === 'made') return 'stored';
    if (typeof outcome === 'object') return takenBy(outcome);
  }
}
