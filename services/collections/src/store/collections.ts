import { erasedUserCollection } from '@kith/service';
import { collection, replyCollection } from '@kith/store';
import type { Declared } from '@kith/store/open';
import { z } from 'zod';
import type { CollectionRecord } from '../collection.ts';
import type { EntityRecord } from '../entity.ts';
import { savedKeyAt } from './entity-place.ts';
import { placed } from './place.ts';

/** A collection as it is stored. The key of the document contains the other fields. Times are Unix ms. */
export interface StoredCollection
  extends Pick<CollectionRecord, 'name' | 'ancestors' | 'entityCount' | 'updatedAt' | 'seq'> {
  /** The id and the time of a root. They are stored only for a root, because the key of a root contains neither. */
  root?: Pick<CollectionRecord, 'id' | 'createdAt'> | undefined;
  /** Set when the collection is deleted. The document stays until everything below the collection is purged. */
  deleted?: true | undefined;
}

/** An entity as it is stored. The key of the document contains the other fields. */
export interface StoredEntity extends Pick<EntityRecord, 'entityId' | 'metadata'> {
  userId: string;
}

const time = z.int();

/** The collections. `placeOf` makes their keys. */
export const collections = collection<StoredCollection>({
  name: 'collections',
  kind: 'target',
  version: 1,
  schema: z.object({
    name: z.string(),
    ancestors: z.array(z.string()),
    entityCount: z.int().nonnegative(),
    updatedAt: time,
    seq: z.int(),
    root: z.object({ id: z.string(), createdAt: time }).optional(),
    deleted: z.literal(true).optional(),
  }),
  indexes: {
    id: { key: (doc, place) => (doc.deleted ? null : idOf(doc, place)), unique: true },
    parent: { key: ({ ancestors }) => ancestors.at(-1) ?? null },
    deleted: { key: ({ deleted }, place) => (deleted ? place : null) },
  },
});

/** The entities that are saved in collections. `entityPlace` makes their keys. */
export const entities = collection<StoredEntity>({
  name: 'entities',
  kind: 'row',
  version: 1,
  schema: z.object({
    userId: z.string(),
    entityId: z.string(),
    metadata: z.custom<EntityRecord['metadata']>(),
  }),
  indexes: { saved: { key: ({ userId }, place) => savedKeyAt(place, userId) } },
});

/** Ids of imported collections that were deleted, by `endedKey`. For a while, no import may use these ids. */
export const endedCollections = collection<{ until: number }>({
  name: 'endedCollections',
  kind: 'copy',
  version: 1,
  schema: z.object({ until: time }),
  expires: ({ until }) => until,
});

/** Everything that the collections service stores. */
export const declared: Declared = {
  collections: [collections, entities, endedCollections, erasedUserCollection, replyCollection],
};

/** A stored collection's id. */
export function idOf({ root }: StoredCollection, place: string): string {
  return root?.id ?? placed(place).id;
}
