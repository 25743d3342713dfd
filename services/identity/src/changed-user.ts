import type { User } from './store/index.ts';

/** A user after a change that makes an event: its `seq` goes up with its `rev`. */
export function changedUser(before: User, changes: Partial<User>, at = new Date()): User {
  return { ...before, ...changes, updatedAt: at, rev: before.rev + 1, seq: before.seq + 1 };
}
