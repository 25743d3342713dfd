import { timeKey } from '@kith/store';
import type { Owner } from '../file.ts';

/** The key of a user's account. */
export function accountId({ projectId, userId }: Owner): string {
  return `${projectId}|${userId}`;
}

/** The owner of the account with this key. */
export function accountOwner(id: string): Owner {
  const [projectId = '', userId = ''] = id.split('|');
  return { projectId, userId };
}

/** The key of a project's usage. */
export function usageId(projectId: string): string {
  return `${projectId}|all`;
}

/**
 * A file's key. It is also the file's place in the list of the owner's files: if the files are sorted by their keys, the oldest
 * file comes first (docs/adr/0006).
 */
export function filePlace(file: Owner & { id: string; createdAt: number }): string {
  return `${accountId(file)}|${positionOf(file)}`;
}

/** Reads the parts of a file's place. */
export function placedFile(place: string): Owner & { id: string; createdAt: number } {
  const [projectId = '', userId = '', createdAt, id = ''] = place.split('|');
  return { projectId, userId, id, createdAt: Number(createdAt) };
}

/** The position of a file in its owner's list. Cursors carry this position. */
export function positionOf({ id, createdAt }: { id: string; createdAt: number }): string {
  return `${timeKey(createdAt)}|${id}`;
}

/** Whether a text is a position. */
export function isPosition(text: string): boolean {
  return /^\d{15}\|[0-9a-f-]{36}$/.test(text);
}

/**
 * The range of keys that contains all files of an owner. The keys of these files begin with `<account id>|`. `}` is the
 * character after `|`. So `<account id>}` sorts directly after all of these keys.
 */
export function fileRange(owner: Owner): { above: string; below: string } {
  return { above: `${accountId(owner)}|`, below: `${accountId(owner)}}` };
}

/** The id of the claim on the id of an imported file. */
export function claimId({ projectId, id }: { projectId: string; id: string }): string {
  return `${projectId}|${id}`;
}

/** The index key that finds the claims of a user: it consists of the user and the id of the file. */
export function claimKey(id: string, userId: string): string {
  const [projectId = '', fileId = ''] = id.split('|');
  return `${accountId({ projectId, userId })}|${fileId}`;
}
