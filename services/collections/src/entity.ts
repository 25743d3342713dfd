import {
  collectionEntityAdded,
  collectionEntityRemoved,
  type EventEnvelope,
  type SavedEntity,
} from '@kith/contracts';
import { makeEvent } from '@kith/service';
import type { CollectionRecord } from './collection.ts';

/**
 * An entity that is saved in a collection. `addedAt` is in Unix ms. Only an imported entity can have the same `addedAt` as
 * another entity of the collection.
 */
export interface EntityRecord {
  entityId: string;
  addedAt: number;
  metadata: SavedEntity['metadata'];
}

/** An entity that is added to a collection or removed from it. */
export interface EntityChange {
  kind: 'add' | 'remove';
  entity: EntityRecord;
}

/** The entity as the API shows it (spec#collections-entities). */
export function toSavedEntity({ entityId, addedAt, metadata }: EntityRecord): SavedEntity {
  return { id: entityId, isSaved: true, addedAt: new Date(addedAt).toISOString(), metadata };
}

/** The event of a change. `record` is the collection after the change. */
export function entityEvent(record: CollectionRecord, { kind, entity }: EntityChange): EventEnvelope {
  const { entityId, addedAt, metadata } = entity;
  const common = {
    projectId: record.projectId,
    actorId: record.userId,
    aggregate: { type: 'collection', id: record.id, seq: record.seq },
    occurredAt: new Date(record.updatedAt),
  };
  const data = {
    collectionId: record.id,
    userId: record.userId,
    entityId,
    entityCount: record.entityCount,
  };
  if (kind === 'remove') return makeEvent(collectionEntityRemoved, { ...common, data });
  return makeEvent(collectionEntityAdded, {
    ...common,
    data: { ...data, addedAt: new Date(addedAt).toISOString(), metadata },
  });
}
