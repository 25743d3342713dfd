import { createHash } from 'node:crypto';
import type { CollectionRecord, Owner } from '../collection.ts';
import type { EntityRecord } from '../entity.ts';
import { rangeBehind } from './place.ts';

const positionPattern = /^\d{15}\|[\w-]{43}$/;

/**
 * The position of an entity in its collection. Sorted by position, the oldest entity comes first. Cursors contain this
 * position.
 */
export function entityPosition({ addedAt, entityId }: EntityRecord): string {
  return `${String(addedAt).padStart(15, '0')}|${digest(entityId)}`;
}

/** Whether a text has the form of a position. */
export function isEntityPosition(text: string): boolean {
  return positionPattern.test(text);
}

type Home = Pick<CollectionRecord, 'projectId' | 'id'>;

/** The key of an entity's row. Each time the entity is added, it gets a new key (docs/adr/0006). */
export function entityPlace({ projectId, id }: Home, entity: EntityRecord): string {
  return `${projectId}|${id}|${entityPosition(entity)}`;
}

/** The time at which an entity was added, read from its key. */
export function addedAtOf(place: string): number {
  // The time has 15 digits, and the digest has 43 characters. This runs for each row of a page, and slicing is faster than
  // splitting.
  return Number(place.slice(-59, -44));
}

/** Reads the parts of an entity's key. */
export function placedEntity(place: string) {
  const [projectId = '', collectionId = '', , hash = ''] = place.split('|');
  return { projectId, collectionId, addedAt: addedAtOf(place), hash };
}

/** The range of keys in which all rows of a collection lie. */
export function entityRange({ projectId, id }: Home): { above: string; below: string } {
  return rangeBehind(`${projectId}|${id}|`, '');
}

/** The index key that finds the row of an entity in a collection. */
export function savedKey(collection: Owner & Home, entityId: string): string {
  return `${savedPrefix(collection, digest(entityId))}${collection.id}`;
}

/** Returns the same key as `savedKey`, but makes it from the key of a row. */
export function savedKeyAt(place: string, userId: string): string {
  const { projectId, collectionId, hash } = placedEntity(place);
  return `${savedPrefix({ projectId, userId }, hash)}${collectionId}`;
}

/** The range of index keys of all rows of an entity. An owner may have saved the entity in several collections. */
export function savedRange(owner: Owner, entityId: string): { above: string; below: string } {
  return rangeBehind(savedPrefix(owner, digest(entityId)), '');
}

function savedPrefix({ projectId, userId }: Owner, hash: string): string {
  return `${projectId}|${userId}|${hash}|`;
}

/**
 * Turns an entity's id into a text of fixed length without separators, for keys. The id itself cannot be part of a key, because
 * it can be any text.
 */
function digest(entityId: string): string {
  return createHash('sha256').update(entityId).digest('base64url');
}
