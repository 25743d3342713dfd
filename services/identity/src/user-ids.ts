import { derivedId } from '@kith/base';
import type { User } from './store/records.ts';

/**
 * The id of a user who is imported under a foreign id alone. After an account has ended, this id stays stored instead of the
 * foreign id.
 */
export function foreignUserId(projectId: string, foreignId: string): string {
  return derivedId('user', projectId, foreignId);
}

/** The ids under which the end of an account is stored: the user's id, and the id that is derived from the foreign id. */
export function endedIds({
  projectId,
  id,
  foreignId,
}: Pick<User, 'projectId' | 'id' | 'foreignId'>): string[] {
  const foreign = foreignId === null ? id : foreignUserId(projectId, foreignId);
  return foreign === id ? [id] : [id, foreign];
}
