import { isDeepStrictEqual } from 'node:util';
import { DeadlinePassed } from '@kith/base';
import { type ImportedEntity, type ImportResult, importEntities as spec } from '@kith/contracts';
import { handler, nameUsers } from '@kith/service';
import type { AppContext } from '../app.ts';
import type { Owner } from '../collection.ts';
import type { EntityRecord } from '../entity.ts';
import { importedId } from '../imported.ts';

interface Row {
  row: number;
  given: ImportedEntity;
}

interface Group {
  owner: Owner;
  /** The collection's id. Null means the owner's root. */
  id: string | null;
  /** The entities to save, by their ids. If several rows name the same entity, the first row is saved. */
  entities: Map<string, EntityRecord>;
  rows: Row[];
}

/**
 * Imports entities into collections. If an entity is saved already, it stays as it is, with its time and metadata. Publishes
 * no events (docs/adr/0018).
 */
export const importEntities = handler(spec, async (request, app: AppContext) => {
  const { projectId } = request.params;
  const { rows } = request.body;
  const names = rows.map(({ userId, userForeignId }) => ({ id: userId, foreignId: userForeignId }));
  const idOf = await nameUsers(app.bus, { projectId, names }, request);
  const rejected: ImportResult['rejected'] = [];
  const groups = new Map<string, Group>();
  for (const [row, given] of rows.entries()) {
    const userId = idOf(names[row] ?? {});
    if (userId === undefined) {
      rejected.push({ row, reason: 'user-not-found' });
      continue;
    }
    const owner = { projectId, userId };
    const id = given.collectionId == null ? null : importedId(owner, given.collectionId);
    const key = `${userId}|${id ?? 'root'}`;
    const group: Group = groups.get(key) ?? { owner, id, entities: new Map(), rows: [] };
    groups.set(key, group);
    group.rows.push({ row, given });
    const { entityId, addedAt, metadata = null } = given;
    if (!group.entities.has(entityId))
      group.entities.set(entityId, { entityId, addedAt: Date.parse(addedAt), metadata });
  }
  let [imported, unchanged] = [0, 0];
  const saveAll = async () => {
    for (let left = [...groups.values()]; left.length > 0; ) {
      if (Date.now() >= request.deadline)
        throw new DeadlinePassed('Until the deadline, other changes of the collection always came first.');
      const { saved, missing, again } = await save(app, left);
      for (const { group, there } of saved) {
        const counts = countOf(group, there);
        imported += counts.imported;
        unchanged += counts.unchanged;
        rejected.push(...counts.refused);
      }
      for (const { rows: lost } of missing)
        rejected.push(...lost.map(({ row }) => ({ row, reason: 'collection-not-found' as const })));
      left = again;
    }
  };
  // If several requests save in the same collection, they take turns. Without turns, each saved change would make the other
  // requests start again. A slow request might then lose every time, until its client gives up.
  await app.turns.run([...groups.keys()], saveAll);
  return { imported, unchanged, rejected: rejected.sort((one, other) => one.row - other.row) };
});

/** Counts the rows of a group by outcome. `there` holds the group's entities that had been saved before this import. */
function countOf(group: Group, there: readonly EntityRecord[]) {
  const stored = new Map(there.map((entity) => [entity.entityId, entity]));
  const refused: ImportResult['rejected'] = [];
  let unchanged = 0;
  for (const { row, given } of group.rows) {
    const { entityId } = given;
    const found = stored.get(entityId);
    const own = group.entities.get(entityId)!;
    if (!found) stored.set(entityId, own);
    else {
      const fields = differingFields(given, found);
      if (fields.length === 0) unchanged++;
      else refused.push({ row, reason: 'conflict', fields });
    }
  }
  return { imported: group.entities.size - there.length, unchanged, refused };
}

/** The fields of a row that differ from the saved entity. Fields that the row leaves out are not compared. */
function differingFields(row: ImportedEntity, stored: EntityRecord): string[] {
  const metadata = row.metadata === undefined || isSameJson(row.metadata, stored.metadata);
  const isSame = { addedAt: Date.parse(row.addedAt) === stored.addedAt, metadata };
  return Object.entries(isSame).flatMap(([field, same]) => (same ? [] : [field]));
}

/** Whether two values are the same JSON. The order of keys does not matter. */
function isSameJson(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other)));
}

/**
 * Saves the entities of groups. In the result, `again` holds the groups that must be saved again, because another change of
 * their collection came first.
 */
async function save(app: AppContext, groups: readonly Group[]) {
  const { imports } = app.store;
  const inRoot = groups.filter(({ id }) => id === null);
  const at = Date.now();
  const roots = await imports.roots(inRoot.map(({ owner }) => ({ ...owner, at })));
  const wanted = groups.map(({ owner, id }) => ({ ...owner, id: id ?? roots.get(owner.userId)?.id ?? '' }));
  const known = await imports.find(wanted);
  const found = groups.flatMap((group, at) => {
    const collection = known.get(wanted[at]?.id ?? '');
    return collection ? [{ group, collection }] : [];
  });
  const outcomes = await imports.save(
    found.map(({ group, collection }) => ({ collection, entities: [...group.entities.values()] })),
  );
  return {
    saved: found.flatMap(({ group }, at) => {
      const there = outcomes[at];
      return there ? [{ group, there }] : [];
    }),
    missing: groups.filter((_, at) => !known.has(wanted[at]?.id ?? '')),
    again: found.flatMap(({ group }, at) => (outcomes[at] ? [] : [group])),
  };
}
