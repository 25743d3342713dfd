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
import type { ImportOutcome } from '../store/index.ts';

/**
 * Imports users. The import makes no events: users begin at `seq` 0, and only later changes make events (docs/adr/0018). If a
 * row has the id of an existing user, the row changes nothing. If the row also differs from that user, the row is a `conflict`.
 */
export const importUsersHandler = handler(importUsers, async ({ params, body }, app: AppContext) => {
  const { projectId } = params;
  if (!(await app.store.projects.find(projectId))) throw new ApiError('project/not-found');
  const refusals = await kindRefusals(app, projectId, body.rows);
  const isTaken = (index: number) => refusals[index] === null;
  const now = new Date();
  const taken = body.rows.filter((_, index) => isTaken(index));
  const outcomes = await app.store.imports.add(
    projectId,
    taken.map((row) => importedUserOf(projectId, row, now)),
  );
  const result: ImportResult = { imported: 0, unchanged: 0, rejected: [] };
  let at = 0;
  for (const [index, row] of body.rows.entries()) {
    const outcome = refusals[index] ?? outcomes[at++];
    if (outcome === undefined) throw new Error('The store has told too little.');
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

/** Notes the kinds of hashes in the rows before the rows are stored. Returns for each row why its kind is refused, or null. */
async function kindRefusals(
  app: AppContext,
  projectId: string,
  rows: readonly ImportedUser[],
): Promise<(ImportReason | null)[]> {
  const given = rows.map(({ passwordHash }) => passwordHashKind(passwordHash ?? ''));
  const kinds = new Set(given.filter((kind) => kind !== null));
  if (kinds.size === 0) return given.map(() => null);
  let known = await app.store.imports.hashKinds(projectId);
  const added = [...kinds].filter((kind) => kindRefusal(known, kind) === null && !known.includes(kind));
  const mayAdd = (those: readonly string[], kind: string) => kindRefusal(those, kind) === null;
  if (added.length > 0) known = await app.store.imports.noteHashKinds(projectId, added, mayAdd);
  const refusals = new Map([...kinds].map((kind) => [kind, kindRefusal(known, kind)]));
  return given.map((kind) => (kind === null ? null : (refusals.get(kind) ?? null)));
}
