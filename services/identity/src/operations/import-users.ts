import { type ImportedUser, type ImportReason, importUsers, passwordHashKind } from '@kith/contracts';
import { ApiError, derivedId, handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { markImported } from '../imported-hash.ts';
import { newUser } from '../new-user.ts';
import { withProfile } from '../profile.ts';
import type { User } from '../store/index.ts';

/** Most kinds of imported hashes in a project: a refused sign-in costs one of each. */
const mostKinds = 4;

/**
 * Imports users. Nothing is told of them: they begin at `seq` 0, and what changes from then on tells of itself
 * (docs/adr/0018). A row that is there already, by its id, changes nothing.
 */
export const importUsersHandler = handler(importUsers, async ({ params, body }, app: AppContext) => {
  const { projectId } = params;
  if (!(await app.store.projects.find(projectId))) throw new ApiError('project/not-found');
  const kinds = await takenKinds(app, projectId, body.rows);
  const isTaken = ({ passwordHash }: ImportedUser) =>
    !passwordHash || kinds.has(passwordHashKind(passwordHash) ?? '');
  const taken = body.rows.filter(isTaken);
  const now = new Date();
  const outcomes = await app.store.imports.add(
    projectId,
    taken.map((row) => userOf(projectId, row, now)),
  );
  const rejected: { row: number; reason: ImportReason }[] = [];
  let [imported, unchanged, at] = [0, 0, 0];
  for (const [row, given] of body.rows.entries()) {
    const outcome = isTaken(given) ? (outcomes[at++] ?? 'there') : 'too-many-hash-kinds';
    if (outcome === 'stored') imported++;
    else if (outcome === 'there') unchanged++;
    else rejected.push({ row, reason: outcome });
  }
  return { imported, unchanged, rejected };
});

/** Notes the kinds of hashes that rows bring, before the rows: as many as a project may have. Gives those it has. */
async function takenKinds(
  app: AppContext,
  projectId: string,
  rows: readonly ImportedUser[],
): Promise<Set<string>> {
  const known = await app.store.imports.hashKinds(projectId);
  const given = new Set(rows.flatMap(({ passwordHash }) => passwordHashKind(passwordHash ?? '') ?? []));
  const added = [...given].filter((kind) => !known.includes(kind));
  if (added.length === 0 || known.length >= mostKinds) return new Set(known);
  return new Set(await app.store.imports.noteHashKinds(projectId, added, mostKinds));
}

function userOf(projectId: string, row: ImportedUser, now: Date): User {
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
    id: row.id ?? derivedId('user', projectId, foreignId ?? ''),
    role: role ?? 'visitor',
    reputation: reputation ?? 0,
    isVerified: isVerified ?? false,
    lastActive: null,
    seq: 0,
  };
}
