import { derivedId } from '@kith/base';
import type { User } from './store/records.ts';

/**
 * The id of a user who is imported under a foreign id alone. After an account has ended, this id is remembered in place of the
 * foreign id.
 */
export function foreignUserId(projectId: string, foreignId: string): string {
  return derivedId('user', projectId, foreignId);
}

/** The ids under which a user's end is remembered: the user's own id, and the id derived from the foreign id. */
export function endedIds({
  projectId,
  id,
  foreignId,
}: Pick<User, 'projectId' | 'id' | 'foreignId'>): string[] {
  const foreign = foreignId === null ? id : foreignUserId(projectId, foreignId);
  return foreign === id ? [id] : [id, foreign];
}
