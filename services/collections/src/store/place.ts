import type { CollectionRecord, Owner } from '../collection.ts';

/** The key of a user's one root. */
export function rootPlace(owner: Owner): string {
  return `${owner.projectId}|${owner.userId}|root`;
}

/** A collection's key, which is its place in its parent's list, oldest first (docs/adr/0006). */
export function placeOf(record: CollectionRecord): string {
  if (record.parentId === null) return rootPlace(record);
  return `${listPrefix(record, record.parentId)}${positionOf(record)}`;
}

/** Where a collection stands among its siblings: what a cursor carries. 15 digits of ms last for 30,000 years. */
export function positionOf(record: CollectionRecord): string {
  return `${String(record.createdAt).padStart(15, '0')}|${record.id}`;
}

/**
 * The keys of a parent's list: above `from`, below `to`. The owner's prefix always stands before the position, so
 * that a forged one leaves the list empty or whole but never reaches into another.
 */
export function listRange(
  owner: Owner,
  parentId: string,
  after: string | null,
): { from: string; to: string } {
  const prefix = listPrefix(owner, parentId);
  // `}` follows `|`.
  return { from: `${prefix}${after ?? ''}`, to: `${prefix.slice(0, -1)}}` };
}

/** Where a collection stands among all of its owner's: what a walk over them goes on behind. */
export function placeInTree(record: CollectionRecord): string {
  return placeOf(record).slice(ownerPrefix(record).length);
}

/** The keys of all of an owner's collections: above `from`, below `to`. */
export function ownerRange(owner: Owner, after: string): { from: string; to: string } {
  const prefix = ownerPrefix(owner);
  return { from: `${prefix}${after}`, to: `${prefix.slice(0, -1)}}` };
}

function ownerPrefix({ projectId, userId }: Owner): string {
  return `${projectId}|${userId}|`;
}

function listPrefix(owner: Owner, parentId: string): string {
  return `${ownerPrefix(owner)}${parentId}|`;
}
