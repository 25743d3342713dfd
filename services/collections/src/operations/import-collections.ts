import { type ImportedCollection, type ImportResult, importCollections as spec } from '@kith/contracts';
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
 * Imports collections. The parent of a collection must exist already or be in another row of the same request. Publishes no
 * events (docs/adr/0018). If a collection exists already, it stays as it is. If two rows describe the same collection, the
 * first row is used.
 */
export const importCollections = handler(spec, async (request, app: AppContext) => {
  const { projectId } = request.params;
  const { rows } = request.body;
  const names = rows.map(({ userId, userForeignId }) => ({ id: userId, foreignId: userForeignId }));
  const idOf = await nameUsers(app.bus, { projectId, names }, request);
  const rejected: ImportResult['rejected'] = [];
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
  const refused: ImportResult['rejected'] = [];
  /** The owners, by their ids. `at` is the time of the owner's oldest row. */
  const owners = new Map<string, Owner & { at: number }>();
  for (const { owner, given } of rows) {
    const { at = Date.now() } = owners.get(owner.userId) ?? {};
    owners.set(owner.userId, { ...owner, at: Math.min(at, Date.parse(given.createdAt)) });
  }
  const roots = await app.store.imports.roots([...owners.values()]);
  const wanted = rows.flatMap(({ owner, id, parentId }) =>
    [id, ...(parentId === null ? [] : [parentId])].map((one) => ({ ...owner, id: one })),
  );
  const known = await app.store.imports.find(wanted);
  const there: Row[] = [];
  const made: { row: number; record: CollectionRecord }[] = [];
  // Makes the collections level by level, so that each collection comes after its parent.
  let left = rows;
  for (let before = -1; before < made.length; ) {
    before = made.length;
    const later: Row[] = [];
    for (const one of left) {
      const { row, given, owner, id, parentId } = one;
      const parent = parentId === null ? roots.get(owner.userId) : known.get(parentId);
      if (known.has(id)) there.push(one);
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
  for (const { row } of left) refused.push({ row, reason: 'parent-not-found' });
  const outcomes = await app.store.imports.insert(made.map(({ record }) => record));
  let [imported, unchanged] = [0, 0];
  for (const [at, { row, record }] of made.entries()) {
    const outcome = outcomes[at] ?? 'deleted';
    if (outcome === 'stored') imported++;
    else if (outcome === 'deleted') {
      refused.push({ row, reason: outcome });
      known.delete(record.id);
    } else {
      // Another import has stored this collection first.
      known.set(record.id, outcome);
      there.push(rows.find((one) => one.row === row)!);
    }
  }
  for (const { row, given, owner, id, parentId } of there) {
    const stored = known.get(id);
    const parent = parentId ?? roots.get(owner.userId)?.id;
    const fields = stored && differingFields(given, { parentId: parent, stored });
    if (!fields) refused.push({ row, reason: 'deleted' });
    else if (fields.length > 0) refused.push({ row, reason: 'conflict', fields });
    else unchanged++;
  }
  return { imported, unchanged, refused };
}

/** The fields of a row that differ from the stored collection. Fields that the row leaves out are not compared. */
function differingFields(
  row: ImportedCollection,
  { parentId, stored }: { parentId: string | undefined; stored: CollectionRecord },
): string[] {
  const isSame = {
    parentId: parentId === stored.parentId,
    name: row.name === stored.name,
    createdAt: Date.parse(row.createdAt) === stored.createdAt,
  };
  const fields = Object.keys(isSame) as (keyof typeof isSame)[];
  return fields.filter((field) => row[field] !== undefined && !isSame[field]);
}
