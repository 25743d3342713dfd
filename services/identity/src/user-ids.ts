import { derivedId } from '@kith/base';
import type { User } from './store/records.ts';

/** The id of a user who is imported under a foreign id alone. Of one that has ended it stands for the foreign id itself. */
export function foreignUserId(projectId: string, foreignId: string): string {
  return derivedId('user', projectId, foreignId);
}

/** The ids under which a user's end is remembered: its own, and the one that follows from its foreign id. */
export function endedIds({
  projectId,
  id,
  foreignId,
}: Pick<User, 'projectId' | 'id' | 'foreignId'>): string[] {
  const foreign = foreignId === null ? id : foreignUserId(projectId, foreignId);
  return foreign === id ? [id] : [id, foreign];
}
