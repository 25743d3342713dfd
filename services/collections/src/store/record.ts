import type { DocumentChange, Stored } from '@kith/store';
import type { CollectionRecord, Owner } from '../collection.ts';
import type { EntityRecord } from '../entity.ts';
import { collections, type StoredCollection, type StoredEntity } from './collections.ts';
import { addedAtOf } from './entity-place.ts';
import { placed, placeOf } from './place.ts';

/** Makes a collection from its stored document. */
export function recordOf({ id: place, doc }: Stored<StoredCollection>): CollectionRecord {
  const { root, deleted, ...rest } = doc;
  return { ...placed(place), ...root, parentId: rest.ancestors.at(-1) ?? null, ...rest };
}

/** Makes the document to store for a collection. */
export function storedOf(record: CollectionRecord): StoredCollection {
  const { id, createdAt, parentId, name, ancestors, entityCount, updatedAt, seq } = record;
  const root = parentId === null ? { id, createdAt } : undefined;
  return { name, ancestors, entityCount, updatedAt, seq, ...(root && { root }) };
}

/** Makes an entity from its stored row. */
export function entityOf({ id: place, doc }: Stored<StoredEntity>): EntityRecord {
  const { entityId, metadata } = doc;
  return { entityId, addedAt: addedAtOf(place), metadata };
}

/** Makes the row to store for an entity. */
export function storedEntity({ userId }: Owner, { entityId, metadata }: EntityRecord): StoredEntity {
  return { userId, entityId, metadata };
}

/** The change that stores a new collection. The store makes the change only if all collections above the new one exist. */
export function adding(record: CollectionRecord): DocumentChange<StoredCollection> {
  return {
    in: collections,
    target: placeOf(record),
    set: storedOf(record),
    // A root has no `below`, so the store inserts it with one write.
    ...(record.parentId !== null && { below: { index: 'id', keys: record.ancestors } }),
  };
}

/** The change that deletes a collection without an event. */
export function deleting(target: Stored<StoredCollection>): DocumentChange<StoredCollection> {
  return { in: collections, target, set: { ...target.doc, deleted: true }, erases: true };
}
