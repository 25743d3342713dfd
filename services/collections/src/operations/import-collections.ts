import { type ImportedCollection, type ImportReason, importCollections as spec } from '@kith/contracts';
import { handler, nameUsers } from '@kith/service';
import type { AppContext } from '../app.ts';
import { type CollectionRecord, maxDepth, type Owner } from '../collection.ts';
import { importedId, importedRecord } from '../imported.ts';

interface Row {
  row: number;
  given: ImportedCollection;
  owner: Owner;
  id: string;
  parentId: string | null;
}

/**
 * Imports collections, each below its parent, which is there or comes in the same rows. Nothing is told of them
 * (docs/adr/0018); one that is there already stays as it is.
 */
export const importCollections = handler(spec, async (request, app: AppContext) => {
  const { projectId } = request.params;
  const { rows } = request.body;
  const names = rows.map(({ userId, userForeignId }) => ({ id: userId, foreignId: userForeignId }));
  const idOf = await nameUsers(app.bus, { projectId, names }, request);
  const rejected: { row: number; reason: ImportReason }[] = [];
  const named: Row[] = [];
  for (const [row, given] of rows.entries()) {
    const userId = idOf(names[row] ?? {});
    if (userId === undefined) {
      rejected.push({ row, reason: 'user-not-found' });
      continue;
    }
    const owner = { projectId, userId };
    const parentId = given.parentId == null ? null : importedId(owner, given.parentId);
    named.push({ row, given, owner, id: importedId(owner, given.id), parentId });
  }
  const { imported, unchanged, refused } = await importRows(app, named);
  rejected.push(...refused);
  return { imported, unchanged, rejected: rejected.sort((one, other) => one.row - other.row) };
});

async function importRows(app: AppContext, rows: readonly Row[]) {
  const refused: { row: number; reason: ImportReason }[] = [];
  const owners = new Map(rows.map(({ owner }) => [owner.userId, owner]));
  const oldest = Math.min(Date.now(), ...rows.map(({ given }) => Date.parse(given.createdAt)));
  const roots = await app.store.imports.roots([...owners.values()], oldest);
  const wanted = rows.flatMap(({ owner, id, parentId }) =>
    [id, ...(parentId === null ? [] : [parentId])].map((one) => ({ ...owner, id: one })),
  );
  const known = await app.store.imports.find(wanted);
  let [imported, unchanged] = [0, 0];
  let left: Row[] = [];
  for (const row of rows) {
    if (known.has(row.id)) unchanged++;
    else left.push(row);
  }
  // Level by level, so that each comes behind its parent.
  const made: { row: number; record: CollectionRecord }[] = [];
  for (let before = -1; before < made.length; ) {
    before = made.length;
    const later: Row[] = [];
    for (const one of left) {
      const { row, given, owner, id, parentId } = one;
      const parent = parentId === null ? roots.get(owner.userId) : known.get(parentId);
      if (known.has(id)) unchanged++;
      else if (!parent) later.push(one);
      else if (parent.ancestors.length >= maxDepth) refused.push({ row, reason: 'too-deep' });
      else {
        const at = Date.parse(given.createdAt);
        const record = importedRecord(owner, { id, name: given.name, parent, at });
        known.set(id, record);
        made.push({ row, record });
      }
    }
    left = later;
  }
  const stored = await app.store.imports.insert(made.map(({ record }) => record));
  for (const [at, { row }] of made.entries()) {
    if (stored[at]) imported++;
    else refused.push({ row, reason: 'deleted' });
  }
  for (const { row } of left) refused.push({ row, reason: 'parent-not-found' });
  return { imported, unchanged, refused };
}
