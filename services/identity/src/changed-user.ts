import type { User } from './store/index.ts';

/** A user after a change that makes an event. Both `rev` and `seq` go up by one. */
export function changedUser(before: User, changes: Partial<User>, at = new Date()): User {
  return { ...before, ...changes, updatedAt: at, rev: before.rev + 1, seq: before.seq + 1 };
}
