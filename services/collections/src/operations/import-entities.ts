import { type ImportReason, importEntities as spec } from '@kith/contracts';
import { DeadlinePassed, handler, nameUsers } from '@kith/service';
import type { AppContext } from '../app.ts';
import type { Owner } from '../collection.ts';
import type { EntityRecord } from '../entity.ts';
import { importedId } from '../imported.ts';

interface Group {
  owner: Owner;
  /** Null is the root. */
  id: string | null;
  entities: Map<string, EntityRecord>;
  rows: number[];
}

/**
 * Imports what is saved in collections. What is saved already stays as it is, with its time and metadata; nothing is
 * told of it (docs/adr/0018).
 */
export const importEntities = handler(spec, async (request, app: AppContext) => {
  const { projectId } = request.params;
  const { rows } = request.body;
  const names = rows.map(({ userId, userForeignId }) => ({ id: userId, foreignId: userForeignId }));
  const idOf = await nameUsers(app.bus, { projectId, names }, request);
  const rejected: { row: number; reason: ImportReason }[] = [];
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
    group.rows.push(row);
    const { entityId, addedAt, metadata = null } = given;
    if (!group.entities.has(entityId))
      group.entities.set(entityId, { entityId, addedAt: Date.parse(addedAt), metadata });
  }
  let imported = 0;
  let taken = 0;
  for (let left = [...groups.values()]; left.length > 0; ) {
    if (Date.now() >= request.deadline) throw new DeadlinePassed('Other changes kept coming first.');
    const { saved, missing, again } = await save(app, left);
    for (const { group, added } of saved) {
      imported += added;
      taken += group.rows.length;
    }
    for (const { rows: lost } of missing)
      rejected.push(...lost.map((row) => ({ row, reason: 'collection-not-found' as const })));
    left = again;
  }
  return {
    imported,
    unchanged: taken - imported,
    rejected: rejected.sort((one, other) => one.row - other.row),
  };
});

/** Saves what groups hold; `again` are those whose collection was changed by others meanwhile. */
async function save(app: AppContext, groups: readonly Group[]) {
  const { imports } = app.store;
  const inRoot = groups.filter(({ id }) => id === null);
  const roots = await imports.roots(
    inRoot.map(({ owner }) => owner),
    Date.now(),
  );
  const wanted = groups.map(({ owner, id }) => ({ ...owner, id: id ?? roots.get(owner.userId)?.id ?? '' }));
  const known = await imports.find(wanted);
  const found = groups.flatMap((group, at) => {
    const collection = known.get(wanted[at]?.id ?? '');
    return collection ? [{ group, collection }] : [];
  });
  const counts = await imports.save(
    found.map(({ group, collection }) => ({ collection, entities: [...group.entities.values()] })),
  );
  return {
    saved: found.flatMap(({ group }, at) => {
      const added = counts[at];
      return added == null ? [] : [{ group, added }];
    }),
    missing: groups.filter((_, at) => !known.has(wanted[at]?.id ?? '')),
    again: found.flatMap(({ group }, at) => (counts[at] === null ? [group] : [])),
  };
}
