import type { CollectionRecord, Owner } from '../collection.ts';

type Range = { above: string; below: string };

/** The key of a user's one root. */
export function rootPlace(owner: Owner): string {
  return `${ownerPrefix(owner)}root`;
}

/** A collection's key, which is its place in its parent's list, oldest first (docs/adr/0006). */
export function placeOf(record: CollectionRecord): string {
  if (record.parentId === null) return rootPlace(record);
  return `${listPrefix(record, record.parentId)}${positionOf(record)}`;
}

/** What a place says. The id and the time are wrong for a root, whose place holds neither. */
export function placed(place: string): Owner & { id: string; createdAt: number } {
  const [projectId = '', userId = '', , createdAt, id = ''] = place.split('|');
  return { projectId, userId, id, createdAt: Number(createdAt) };
}

/** Where a collection stands among its siblings. Cursors carry this position. 15 digits of ms last for 30,000 years. */
export function positionOf(record: CollectionRecord): string {
  return `${String(record.createdAt).padStart(15, '0')}|${record.id}`;
}

/**
 * The keys of a parent's list. The owner's prefix always stands before the position, so that a forged position makes the list
 * empty or whole but never reaches into another list.
 */
export function listRange(owner: Owner, parentId: string, after: string | null): Range {
  return rangeBehind(listPrefix(owner, parentId), after ?? '');
}

/** Where a collection stands among all its owner's collections, so that a walk over them can go on after it. */
export function placeInTree(record: CollectionRecord): string {
  return placeOf(record).slice(ownerPrefix(record).length);
}

/** The keys of all of an owner's collections. */
export function ownerRange(owner: Owner, after: string): Range {
  return rangeBehind(ownerPrefix(owner), after);
}

function ownerPrefix({ projectId, userId }: Owner): string {
  return `${projectId}|${userId}|`;
}

function listPrefix(owner: Owner, parentId: string): string {
  return `${ownerPrefix(owner)}${parentId}|`;
}

/** The keys that begin with `prefix`, which ends in a bar, and follow `after`. */
export function rangeBehind(prefix: string, after: string): Range {
  // `}` follows `|`.
  return { above: `${prefix}${after}`, below: `${prefix.slice(0, -1)}}` };
}
