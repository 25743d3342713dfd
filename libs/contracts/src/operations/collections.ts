import { z } from 'zod';
import { cursor, generalList, listQuery } from '../lists.ts';
import { internalOperation, operation } from '../operation.ts';
import { clampedInteger, jsonObject, shownText, text, timestamp, uuid, wholeNumber } from '../scalars.ts';
import { nothing, perFiveMinutes } from './shared.ts';

/** `updatedAt` changes when the name or the saved entities change, but not when a sub-collection changes. */
export const collection = z.object({
  id: uuid,
  projectId: uuid,
  userId: uuid,
  parentId: uuid.nullable(),
  name: shownText(200),
  isRoot: z.boolean(),
  entityCount: wholeNumber,
  createdAt: timestamp,
  updatedAt: timestamp,
});
export type Collection = z.output<typeof collection>;

const name = text({ min: 1, max: 200 });
const byId = z.object({ collectionId: uuid });
const common = { feature: 'collection', scope: 'project', auth: 'user' } as const;

/** The caller's root collection. It is created when it is first needed (spec#collections-root). */
export const getRootCollection = operation({
  ...common,
  name: 'collections.get-root',
  summary: "Get the caller's root collection",
  method: 'GET',
  path: '/collections/root',
  limit: perFiveMinutes(100),
  params: nothing,
  query: nothing,
  body: nothing,
  output: collection,
  status: 200,
  errors: [],
});

/** Creates a collection below another collection of the caller (spec#collections-create). */
export const createSubCollection = operation({
  ...common,
  name: 'collections.create-sub-collection',
  summary: 'Create a collection below another',
  method: 'POST',
  path: '/collections/:collectionId/sub-collections',
  limit: perFiveMinutes(50),
  params: byId,
  query: nothing,
  body: z.object({ collectionName: name }),
  output: collection,
  status: 201,
  errors: ['collection/invalid-parent', 'collection/too-deep'],
  invalid: { params: 'collection/invalid-parent', 'body.collectionName': 'collection/invalid-name' },
});

/**
 * The collections directly below a collection, oldest first, as a bare array. A `Link` header leads to the next page
 * (spec#collections-list-sub).
 */
export const listSubCollections = operation({
  ...common,
  name: 'collections.list-sub-collections',
  summary: 'List the collections below another',
  method: 'GET',
  path: '/collections/:collectionId/sub-collections',
  limit: perFiveMinutes(100),
  params: byId,
  query: z.object({
    limit: clampedInteger(1000).default(1000),
    cursor,
  }),
  body: nothing,
  output: z.array(collection).max(1000),
  status: 200,
  errors: ['collection/not-found'],
  invalid: { params: 'collection/not-found' },
});

/** Renames a collection of the caller. The root collection cannot be renamed (spec#collections-rename). */
export const renameCollection = operation({
  ...common,
  name: 'collections.rename',
  summary: 'Rename a collection',
  method: 'PATCH',
  path: '/collections/:collectionId',
  limit: perFiveMinutes(100),
  params: byId,
  query: nothing,
  body: z.object({ name }),
  output: collection,
  status: 200,
  errors: ['collection/not-found'],
  invalid: { params: 'collection/not-found', 'body.name': 'collection/invalid-name' },
});

/**
 * Deletes a collection and all collections below it. From then on, no request finds them. The root cannot be deleted
 * (spec#collections-delete).
 */
export const deleteCollection = operation({
  ...common,
  name: 'collections.delete',
  summary: 'Delete a collection and all collections below it',
  method: 'DELETE',
  path: '/collections/:collectionId',
  limit: perFiveMinutes(50),
  params: byId,
  query: nothing,
  body: nothing,
  output: z.undefined(),
  status: 204,
  errors: ['collection/not-found'],
  invalid: { params: 'collection/not-found' },
});

const entityId = text({ min: 1, max: 200 });
/**
 * The id of an entity to save. The ids `.` and `..` are refused, because clients resolve them in the path of a URL, even if
 * they are percent-encoded. The address of the entity would become the address of the list or of the collection
 * (spec#collections-entity-id).
 */
export const savableEntityId = entityId.refine(
  (id) => id !== '.' && id !== '..',
  'must not be "." or "..", because no URL can contain them.',
);

/** An entity in a collection. `id` is the entity's id. `metadata` is the data that it was saved with, or null. */
export const savedEntity = z.object({
  id: shownText(200),
  isSaved: z.literal(true),
  addedAt: timestamp,
  metadata: z.record(z.string(), z.json()).nullable(),
});
export type SavedEntity = z.output<typeof savedEntity>;

/** The entities in a collection, newest first, or oldest first with `sortDir=asc` (spec#collections-entities). */
export const listEntities = operation({
  ...common,
  name: 'collections.list-entities',
  summary: 'List the entities that are saved in a collection',
  method: 'GET',
  path: '/collections/:collectionId/entities',
  limit: perFiveMinutes(100),
  params: byId,
  query: listQuery({ limit: 20, max: 100 }).extend({ sortDir: z.enum(['asc', 'desc']).default('desc') }),
  body: nothing,
  output: generalList(savedEntity),
  status: 200,
  errors: ['collection/not-found'],
  invalid: { params: 'collection/not-found' },
});

const counted = z.object({
  success: z.literal(true),
  collection: z.object({ id: uuid, entityCount: wholeNumber }),
});

/**
 * Saves an entity in a collection. An entity that is already saved stays as it is, with its first `metadata`
 * (spec#collections-add-entity).
 */
export const addEntity = operation({
  ...common,
  name: 'collections.add-entity',
  summary: 'Save an entity in a collection',
  method: 'POST',
  path: '/collections/:collectionId/entities',
  limit: perFiveMinutes(50),
  params: byId,
  query: nothing,
  body: z.object({ entityId: savableEntityId, metadata: jsonObject(8 * 1024).nullish() }),
  output: counted,
  status: 200,
  errors: ['collection/not-found'],
  invalid: { params: 'collection/not-found' },
});

/**
 * Removes an entity from a collection. It is not an error if the collection does not contain the entity
 * (spec#collections-remove-entity).
 */
export const removeEntity = operation({
  ...common,
  name: 'collections.remove-entity',
  summary: 'Remove an entity from a collection',
  method: 'DELETE',
  path: '/collections/:collectionId/entities/:entityId',
  limit: perFiveMinutes(50),
  params: z.object({ collectionId: uuid, entityId }),
  query: nothing,
  body: nothing,
  output: counted,
  status: 200,
  errors: ['collection/not-found'],
  invalid: { params: 'collection/not-found' },
});

/**
 * The caller's collections that contain an entity, oldest collection first, at most 1,000 of them (spec#collections-is-saved).
 */
export const isEntitySaved = operation({
  ...common,
  name: 'collections.is-entity-saved',
  summary: 'List the collections in which an entity is saved',
  method: 'GET',
  path: '/entities/is-entity-saved',
  limit: perFiveMinutes(250),
  params: nothing,
  query: z.object({ entityId }),
  body: nothing,
  output: z.object({
    saved: z.boolean(),
    collections: z.array(z.object({ id: uuid, name: shownText(200) })).max(1000),
  }),
  status: 200,
  errors: [],
});

/**
 * A user's collection, with the ids of the 1,000 entities that were saved last. The ids are in the order of saving. Null if
 * there is no such collection (spec#existing-clients-list).
 */
export const collectionWithEntities = internalOperation({
  name: 'collections.with-entities',
  feature: 'collection',
  body: z.object({ projectId: uuid, userId: uuid, collectionId: uuid }),
  output: z.object({
    collection: collection.extend({ entityIds: z.array(shownText(200)).max(1000) }).nullable(),
  }),
  errors: [],
});

export const collectionOperations = [
  getRootCollection,
  createSubCollection,
  listSubCollections,
  renameCollection,
  deleteCollection,
  listEntities,
  addEntity,
  removeEntity,
  isEntitySaved,
] as const;
