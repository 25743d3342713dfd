import { derivedId } from '@kith/base';
import type { User } from './store/records.ts';

/**
 * The id of a user who is imported with a foreign id and without an id. It is derived from the foreign id. After an account has
 * ended, only this derived id stays stored for a while, not the foreign id itself.
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
