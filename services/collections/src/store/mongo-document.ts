import {
  eventsIndexes,
  goneIndex,
  type MongoSchema,
  marksIndexes,
  outboxIndex,
  type RowFields,
  type TargetFields,
  unsettledIndex,
} from '@kith/service';
import type { CollectionRecord } from '../collection.ts';
import { placeOf } from './place.ts';

/** A collection as MongoDB has it; `_id` is its place (docs/adr/0006). The target of its entities' changes. */
export interface CollectionDocument
  extends Omit<CollectionRecord, 'createdAt' | 'updatedAt' | 'rev'>,
    TargetFields {
  createdAt: Date;
  updatedAt: Date;
  /** Present while nobody has looked, since it was stored, whether all above it are there: it is not, yet. */
  unconfirmedAt?: Date;
  /** Present once it is deleted, by itself or with one above it: its depth. */
  purgeDepth?: number;
}

/** The row of a saved entity; `_id` is its place. One that is gone may have nothing but the fields of every row. */
export interface EntityDocument extends RowFields {
  /** What the rows of one entity and owner share. */
  saved: string;
  collectionId: string;
  entityId: string;
  addedAt: Date;
  /** As JSON: a document would not take every key. */
  metadata: string;
}

export const collectionsName = 'collections';
export const entitiesName = 'entities';
const present = (field: string) => ({ partialFilterExpression: { [field]: { $exists: true } } });

export const schema: MongoSchema = {
  version: 2,
  collections: {
    [collectionsName]: [
      { name: 'id', key: { projectId: 1, userId: 1, id: 1 }, unique: true },
      // Partial though every document is in it: FerretDB plans a plain one as a walk over all ids.
      { name: 'parent', key: { parentId: 1 }, ...present('parentId') },
      { name: 'unconfirmed', key: { unconfirmedAt: 1 }, ...present('unconfirmedAt') },
      { name: 'purge', key: { purgeDepth: 1 }, ...present('purgeDepth') },
      unsettledIndex,
      outboxIndex,
    ],
    [entitiesName]: [{ name: 'saved', key: { saved: 1 }, ...present('saved') }, goneIndex],
    events: eventsIndexes,
    marks: marksIndexes,
  },
};

/** Filter for collections that are there as far as they themselves know. */
export const there = { purgeDepth: { $exists: false }, unconfirmedAt: { $exists: false } } as const;

/** Tells whether a collection is there as far as it itself knows; one above it may still be deleted. */
export function isThere(document: CollectionDocument): boolean {
  return document.purgeDepth === undefined && document.unconfirmedAt === undefined;
}

export function toDocument(record: CollectionRecord): CollectionDocument {
  const { createdAt, updatedAt, ...rest } = record;
  return { _id: placeOf(record), ...rest, createdAt: new Date(createdAt), updatedAt: new Date(updatedAt) };
}

export function fromDocument(document: CollectionDocument): CollectionRecord {
  const { projectId, userId, id, parentId, ancestors, name, entityCount, rev, seq } = document;
  const { createdAt, updatedAt } = document;
  return {
    projectId,
    userId,
    id,
    parentId,
    ancestors,
    name,
    entityCount,
    createdAt: createdAt.getTime(),
    updatedAt: updatedAt.getTime(),
    rev,
    seq,
  };
}
