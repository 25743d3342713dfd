import {
  addEntity,
  type Collection,
  createSubCollection,
  deleteCollection,
  getRootCollection,
  isEntitySaved,
  listEntities,
  listSubCollections,
  removeEntity,
  renameCollection,
  type SavedEntity,
} from '@kith/contracts';
import type { Answer, Call, World } from './world.ts';

export interface EntityList {
  data: SavedEntity[];
  pagination: { page: number; pageSize: number; totalPages: number; totalItems: number; hasMore: boolean };
}

/** Short functions for everything that one user can do. */
export interface Acts {
  root(): Promise<Collection>;
  create(parentId: string, name?: string): Promise<Answer>;
  /** Creates a collection and returns it. */
  make(parentId: string, name?: string): Promise<Collection>;
  rename(id: string, name: string): Promise<Answer>;
  remove(id: string): Promise<Answer>;
  children(id: string): Promise<Answer>;
  add(id: string, body: unknown): Promise<Answer>;
  take(id: string, entityId: string): Promise<Answer>;
  entities(id: string, query?: string): Promise<Answer>;
  /** Reads all entities of a collection by cursor, and returns their ids, newest first. */
  walk(id: string, query?: string): Promise<string[]>;
  saved(entityId: string): Promise<Answer>;
  /** The ids of the collections that hold an entity. */
  homes(entityId: string): Promise<string[]>;
}

export function actsOf(world: World, userId: string, as: Partial<Call> = {}): Acts {
  const call = (spec: Parameters<World['call']>[0], request: Call) =>
    world.call(spec, { userId, ...request, ...as });
  const acts: Acts = {
    root: () => world.collection(getRootCollection, { userId, ...as }),
    create: (collectionId, collectionName = 'x') =>
      call(createSubCollection, { collectionId, body: { collectionName } }),
    make: (collectionId, collectionName = 'x') =>
      world.collection(createSubCollection, { userId, collectionId, body: { collectionName }, ...as }),
    rename: (collectionId, name) => call(renameCollection, { collectionId, body: { name } }),
    remove: (collectionId) => call(deleteCollection, { collectionId }),
    children: (collectionId) => call(listSubCollections, { collectionId }),
    add: (collectionId, body) => call(addEntity, { collectionId, body }),
    take: (collectionId, entityId) => call(removeEntity, { collectionId, entityId }),
    entities: (collectionId, query = '') => call(listEntities, { collectionId, query }),
    async walk(collectionId, query = 'limit=7') {
      const walked: string[] = [];
      for (let next: string | undefined = query; next !== undefined; ) {
        const answer = await acts.entities(collectionId, next);
        walked.push(...(answer.json as EntityList).data.map(({ id }) => id));
        next = answer.next;
      }
      return walked;
    },
    saved: (entityId) => call(isEntitySaved, { query: `${new URLSearchParams({ entityId })}` }),
    async homes(entityId) {
      const { json } = await acts.saved(entityId);
      return (json as { collections: { id: string }[] }).collections.map(({ id }) => id);
    },
  };
  return acts;
}
