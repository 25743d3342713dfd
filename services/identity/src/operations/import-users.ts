import { ApiError } from '@kith/base';
import {
  type ImportedUser,
  type ImportReason,
  type ImportResult,
  importUsers,
  passwordHashKind,
} from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { kindRefusal } from '../hash-kinds.ts';
import { differingFields, importedUserOf } from '../imported-user.ts';
import type { ImportOutcome, User } from '../store/index.ts';

/**
 * Imports users. The import makes no events: users begin at `seq` 0, and only later changes make events (docs/adr/0018). A row
 * with the id of an existing user changes nothing. If the values of the row differ from those of the user, the row is rejected
 * with the reason `conflict`.
 */
export const importUsersHandler = handler(importUsers, async ({ params, body }, app: AppContext) => {
  const { projectId } = params;
  if (!(await app.store.projects.find(projectId))) throw new ApiError('project/not-found');
  const now = new Date();
  const given = body.rows.map((row) => ({ row, user: importedUserOf(projectId, row, now) }));
  const outcomes = await outcomesBefore(app, projectId, given);
  const left = given.map(({ user }) => user).filter((user) => !outcomes.has(user));
  const added = await app.store.imports.add(projectId, left);
  for (const [at, outcome] of added.entries()) outcomes.set(left[at] as User, outcome);
  const result: ImportResult = { imported: 0, unchanged: 0, rejected: [] };
  for (const [index, { row, user }] of given.entries()) {
    const outcome = outcomes.get(user);
    if (outcome === undefined) throw new Error('The store returned no outcome for a row.');
    count(result, { index, row, outcome });
  }
  return result;
});

function count(
  result: ImportResult,
  of: { index: number; row: ImportedUser; outcome: ImportOutcome | ImportReason },
): void {
  const { index, row, outcome } = of;
  if (outcome === 'stored') result.imported++;
  else if (typeof outcome === 'string') result.rejected.push({ row: index, reason: outcome });
  else {
    const fields = differingFields(row, outcome.there);
    if (fields.length === 0) result.unchanged++;
    else result.rejected.push({ row: index, reason: 'conflict', fields });
  }
}

/**
 * Adds the kinds of password hashes in the rows to the kinds of the project, before the rows are stored. Returns the outcomes
 * of the rows that must not be stored. First, refuses rows that cannot be stored in any case, for example because their
 * username is taken. Their kinds are not added, because a project may have only a few kinds.
 */
async function outcomesBefore(
  app: AppContext,
  projectId: string,
  given: readonly { row: ImportedUser; user: User }[],
): Promise<Map<User, ImportOutcome | ImportReason>> {
  const hashed = given.flatMap(({ row, user }) => {
    const kind = passwordHashKind(row.passwordHash ?? '');
    return kind === null ? [] : [{ kind, user }];
  });
  if (hashed.length === 0) return new Map();
  let known = await app.store.imports.hashKinds(projectId);
  const fresh = hashed.filter(({ kind }) => !known.includes(kind));
  const refused = await app.store.imports.refusedNow(
    projectId,
    fresh.map(({ user }) => user),
  );
  const outcomes = new Map<User, ImportOutcome | ImportReason>(refused);
  const mayAdd = (those: readonly string[], kind: string) => kindRefusal(those, kind) === null;
  const added = new Set(fresh.flatMap(({ kind, user }) => (refused.has(user) ? [] : [kind])));
  if (added.size > 0) known = await app.store.imports.noteHashKinds(projectId, [...added], mayAdd);
  for (const { kind, user } of hashed) {
    const refusal = kindRefusal(known, kind);
    if (refusal !== null && !outcomes.has(user)) outcomes.set(user, refusal);
  }
  return outcomes;
}
