import { createHash } from 'node:crypto';
import type { CollectionRecord, Owner } from '../collection.ts';
import type { EntityRecord } from '../entity.ts';
import { rangeBehind } from './place.ts';

const positionPattern = /^\d{15}\|[\w-]{43}$/;

/** Where an entity stands in its collection, oldest first. Cursors carry this position. */
export function entityPosition({ addedAt, entityId }: EntityRecord): string {
  return `${String(addedAt).padStart(15, '0')}|${digest(entityId)}`;
}

/** Whether a text can be a position. */
export function isEntityPosition(text: string): boolean {
  return positionPattern.test(text);
}

type Home = Pick<CollectionRecord, 'projectId' | 'id'>;

/** The key of an entity's row, new each time it is added (docs/adr/0006). */
export function entityPlace({ projectId, id }: Home, entity: EntityRecord): string {
  return `${projectId}|${id}|${entityPosition(entity)}`;
}

/** When the entity at a place was added. */
export function addedAtOf(place: string): number {
  // Sliced, because splitting is slower and a page does this for each of its rows: the time has 15 digits, the digest 43 characters.
  return Number(place.slice(-59, -44));
}

/** What a place says. */
export function placedEntity(place: string) {
  const [projectId = '', collectionId = '', , hash = ''] = place.split('|');
  return { projectId, collectionId, addedAt: addedAtOf(place), hash };
}

/** The keys of a collection's rows. */
export function entityRange({ projectId, id }: Home): { above: string; below: string } {
  return rangeBehind(`${projectId}|${id}|`, '');
}

/** The index key by which the row of an entity in a collection is found. */
export function savedKey(collection: Owner & Home, entityId: string): string {
  return `${savedPrefix(collection, digest(entityId))}${collection.id}`;
}

/** The same key, for the row at a place. */
export function savedKeyAt(place: string, userId: string): string {
  const { projectId, collectionId, hash } = placedEntity(place);
  return `${savedPrefix({ projectId, userId }, hash)}${collectionId}`;
}

/** The index keys of all rows of an entity in an owner's collections. */
export function savedRange(owner: Owner, entityId: string): { above: string; below: string } {
  return rangeBehind(savedPrefix(owner, digest(entityId)), '');
}

function savedPrefix({ projectId, userId }: Owner, hash: string): string {
  return `${projectId}|${userId}|${hash}|`;
}

/** A text of fixed length without separators. The ids of entities can be any text. */
function digest(entityId: string): string {
  return createHash('sha256').update(entityId).digest('base64url');
}
