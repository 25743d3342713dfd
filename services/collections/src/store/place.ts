import type { CollectionRecord, Owner } from '../collection.ts';

type Range = { above: string; below: string };

/** The key of a user's root. A user has only one root. */
export function rootPlace(owner: Owner): string {
  return `${ownerPrefix(owner)}root`;
}

/**
 * A collection's key. The key is also the collection's place in the list of its parent. The oldest collection comes first
 * (docs/adr/0006).
 */
export function placeOf(record: CollectionRecord): string {
  if (record.parentId === null) return rootPlace(record);
  return `${listPrefix(record, record.parentId)}${positionOf(record)}`;
}

/** Reads the parts of a place. A root's place holds no id and no time, so `id` and `createdAt` are wrong for a root. */
export function placed(place: string): Owner & { id: string; createdAt: number } {
  const [projectId = '', userId = '', , createdAt, id = ''] = place.split('|');
  return { projectId, userId, id, createdAt: Number(createdAt) };
}

/**
 * The position of a collection among its siblings. Cursors contain this position. 15 digits of ms are enough for 30,000 years.
 */
export function positionOf(record: CollectionRecord): string {
  return `${String(record.createdAt).padStart(15, '0')}|${record.id}`;
}

/**
 * The range of the keys in a parent's list. Every key in the range begins with the owner's prefix. So a forged position can
 * make the list empty or complete, but it can never show another list.
 */
export function listRange(owner: Owner, parentId: string, after: string | null): Range {
  return rangeBehind(listPrefix(owner, parentId), after ?? '');
}

/**
 * The position of a collection among all collections of its owner. A walk over these collections can stop at a position and
 * continue there later.
 */
export function placeInTree(record: CollectionRecord): string {
  return placeOf(record).slice(ownerPrefix(record).length);
}

/** The range of keys that holds an owner's collections after the position `after`. */
export function ownerRange(owner: Owner, after: string): Range {
  return rangeBehind(ownerPrefix(owner), after);
}

/** The key under which a collection is recorded as deleted. */
export function endedKey(of: Owner & { id: string }): string {
  return `${ownerPrefix(of)}${of.id}`;
}

/** The range of all keys of a project. */
export function projectRange({ projectId }: Pick<Owner, 'projectId'>): Range {
  return rangeBehind(`${projectId}|`, '');
}

function ownerPrefix({ projectId, userId }: Owner): string {
  return `${projectId}|${userId}|`;
}

function listPrefix(owner: Owner, parentId: string): string {
  return `${ownerPrefix(owner)}${parentId}|`;
}

/** The range of all keys that consist of `prefix` and a text that sorts after `after`. `prefix` ends in a bar. */
export function rangeBehind(prefix: string, after: string): Range {
  // In the order of characters, `}` comes right after `|`.
  return { above: `${prefix}${after}`, below: `${prefix.slice(0, -1)}}` };
}
