import { createHash } from 'node:crypto';
import type { CollectionRecord, Owner } from '../collection.ts';
import type { EntityRecord } from '../entity.ts';

const positionPattern = /^\d{15}\|[\w-]{43}$/;

/** Where an entity stands in its collection, oldest first: what a cursor carries. */
export function entityPosition({ addedAt, entityId }: EntityRecord): string {
  return `${String(addedAt).padStart(15, '0')}|${digest(entityId)}`;
}

/** Tells whether a text can be a position. */
export function isEntityPosition(text: string): boolean {
  return positionPattern.test(text);
}

type Home = Pick<CollectionRecord, 'projectId' | 'id'>;

/** The keys a collection's rows lie between; a row's key is `from` and its position. */
export function entityRange({ projectId, id }: Home): { from: string; to: string } {
  // The character after the bar.
  return { from: `${projectId}|${id}|`, to: `${projectId}|${id}}` };
}

/** The key of an entity's row, new each time it is added (docs/adr/0006). */
export function entityPlace(collection: Home, entity: EntityRecord): string {
  return entityRange(collection).from + entityPosition(entity);
}

/** What an owner's rows of one entity share. */
export function savedKey({ projectId, userId }: Owner, entityId: string): string {
  return `${projectId}|${userId}|${digest(entityId)}`;
}

/** Of fixed length and without separators, as the ids of entities are not: they are any text. */
function digest(entityId: string): string {
  return createHash('sha256').update(entityId).digest('base64url');
}
