import { randomUUID } from 'node:crypto';
import type {
  Collection,
  collectionCreated,
  collectionDeleted,
  collectionRenamed,
  EventOf,
} from '@kith/contracts';
import { type Caller, makeEvent } from '@kith/service';

/** The owner of collections. Each collection belongs to one user of one project. */
export interface Owner {
  projectId: string;
  userId: string;
}

/** The owner whose collections a request may see: the caller, in the project that the address names. */
export function ownerOf(request: { projectId: string; caller: Caller }): Owner {
  return { projectId: request.projectId, userId: request.caller.userId };
}

/** Maximum number of levels below the root (spec#collections-create). */
export const maxDepth = 100;

/** A collection as it is stored. Times are Unix ms. */
export interface CollectionRecord extends Owner {
  id: string;
  parentId: string | null;
  /**
   * The ids of the collections from the root down to the parent. Empty for the root. The number of ids is the collection's
   * depth.
   */
  ancestors: readonly string[];
  name: string;
  /** How many entities are saved in the collection. The write that adds or removes an entity also updates this number. */
  entityCount: number;
  createdAt: number;
  updatedAt: number;
  /** The `seq` of the collection's last event. */
  seq: number;
}

/** Makes a new collection below `parent`. If `parent` is null, makes a root. */
export function newCollection(
  owner: Owner,
  of: { name: string; parent: CollectionRecord | null },
): CollectionRecord {
  const now = Date.now();
  return {
    projectId: owner.projectId,
    userId: owner.userId,
    id: randomUUID(),
    parentId: of.parent?.id ?? null,
    ancestors: of.parent ? [...of.parent.ancestors, of.parent.id] : [],
    name: of.name,
    entityCount: 0,
    createdAt: now,
    updatedAt: now,
    seq: 1,
  };
}

/**
 * Returns a copy of the collection with the change applied and with the next `seq`. `updatedAt` never goes back, even if the
 * clock does.
 */
export function changed(
  current: CollectionRecord,
  to: Partial<Pick<CollectionRecord, 'name' | 'entityCount' | 'updatedAt'>>,
): CollectionRecord {
  return {
    ...current,
    updatedAt: Math.max(Date.now(), current.updatedAt),
    ...to,
    seq: current.seq + 1,
  };
}

/** The collection as the API shows it (spec#collections-collection). */
export function toCollection(record: CollectionRecord): Collection {
  const { id, projectId, userId, parentId, name, entityCount } = record;
  return {
    id,
    projectId,
    userId,
    parentId,
    name,
    isRoot: parentId === null,
    entityCount,
    createdAt: new Date(record.createdAt).toISOString(),
    updatedAt: new Date(record.updatedAt).toISOString(),
  };
}

/** The answer to adding or removing an entity (spec#collections-add-entity). */
export function toCounted({ id, entityCount }: CollectionRecord): {
  success: true;
  collection: { id: string; entityCount: number };
} {
  return { success: true, collection: { id, entityCount } };
}

/** The event of a collection's last change. The collection's owner is the actor. */
export function collectionEvent<
  E extends typeof collectionCreated | typeof collectionRenamed | typeof collectionDeleted,
>(spec: E, record: CollectionRecord): EventOf<E> {
  return makeEvent<E>(spec, {
    projectId: record.projectId,
    actorId: record.userId,
    aggregate: { type: 'collection', id: record.id, seq: record.seq },
    data: toCollection(record) as EventOf<E>['data'],
    occurredAt: new Date(record.updatedAt),
  });
}
