import { derivedId } from '@kith/base';
import type { CollectionRecord, Owner } from './collection.ts';
import type { EntityRecord } from './entity.ts';

/**
 * A collection as another backend had it. No event is published when the collection is imported. So its first change in Kith
 * causes the collection's first event, with `seq` 1.
 */
export function importedRecord(
  { projectId, userId }: Owner,
  of: { id: string; name: string; parent: CollectionRecord | null; at: number },
): CollectionRecord {
  const { id, name, parent, at } = of;
  return {
    projectId,
    userId,
    id,
    parentId: parent?.id ?? null,
    ancestors: parent ? [...parent.ancestors, parent.id] : [],
    name,
    entityCount: 0,
    createdAt: at,
    updatedAt: notAhead(at),
    seq: 0,
  };
}

/**
 * Returns the collection as it is after an import. `added` holds the entities that the import has saved in it. Imported
 * entities make no events.
 */
export function withSaved(collection: CollectionRecord, added: readonly EntityRecord[]): CollectionRecord {
  return {
    ...collection,
    entityCount: collection.entityCount + added.length,
    updatedAt: Math.max(collection.updatedAt, ...added.map(({ addedAt }) => notAhead(addedAt))),
  };
}

/**
 * An imported time that is not in the future. Each later change of a collection gets a time after its `updatedAt`. So a wrong
 * year in an imported row would otherwise give all later changes wrong times.
 */
function notAhead(at: number): number {
  return Math.min(at, Date.now());
}

/**
 * The id of an imported collection. It is made from the owner and from the collection's id in the other backend. So no other
 * collection has the same id.
 */
export function importedId({ projectId, userId }: Owner, given: string): string {
  return derivedId('collection', projectId, userId, given);
}

/**
 * Whether an id can belong to an imported collection. The ids of imported collections are UUIDs of version 8. All other
 * collections have UUIDs of version 4.
 */
export function isImportedId(id: string): boolean {
  return id.charAt(14) === '8';
}
