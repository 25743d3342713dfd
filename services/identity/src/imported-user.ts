import { isDeepStrictEqual } from 'node:util';
import type { ImportedUser } from '@kith/contracts';
import { importedHash, markImported } from './imported-hash.ts';
import { newUser } from './new-user.ts';
import { withProfile } from './profile.ts';
import type { User } from './store/index.ts';
import { foreignUserId } from './user-ids.ts';

/** The user that a row describes. Its `seq` is 0, because an import makes no event (docs/adr/0018). */
export function importedUserOf(projectId: string, row: ImportedUser, now: Date): User {
  const { foreignId = null, email = null, passwordHash, role, reputation, isVerified, createdAt } = row;
  const at = createdAt === undefined ? now : new Date(createdAt);
  const names = {
    projectId,
    foreignId,
    email,
    passwordHash: passwordHash ? markImported(passwordHash) : null,
  };
  return {
    ...newUser(names, withProfile(row), at),
    id: row.id ?? foreignUserId(projectId, foreignId ?? ''),
    role: role ?? 'visitor',
    reputation: reputation ?? 0,
    isVerified: isVerified ?? false,
    lastActive: null,
    seq: 0,
  };
}

/**
 * The fields of a row that differ from the stored values. Fields that the row leaves out are not compared. If our own hash
 * replaced the imported hash when the user signed in, the hash is not compared, either.
 */
export function differingFields(row: ImportedUser, stored: User): string[] {
  const described = importedUserOf(stored.projectId, row, stored.createdAt);
  const given = (Object.keys(row) as (keyof ImportedUser)[]).filter((field) => row[field] !== undefined);
  return given.filter((field) => {
    const isReplaced = stored.passwordHash !== null && importedHash(stored.passwordHash) === null;
    if (field === 'passwordHash' && row.passwordHash && isReplaced) return false;
    return !isDeepStrictEqual(asJson(described[field]), asJson(stored[field]));
  });
}

/** Returns the value as it would be read back from a store, where for example -0 becomes 0. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
