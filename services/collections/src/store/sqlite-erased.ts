import type { DatabaseSync } from 'node:sqlite';
import type { Owner } from '../collection.ts';
import type { ErasedStore } from './index.ts';

/** Marks of erased users on SQLite. */
export function sqliteErased(db: DatabaseSync): ErasedStore {
  const mark = db.prepare('INSERT OR REPLACE INTO erased (project_id, user_id, until) VALUES (?, ?, ?)');
  const forget = db.prepare('DELETE FROM erased WHERE until < ?');
  const marked = db.prepare('SELECT project_id AS projectId, user_id AS userId FROM erased');
  // A scan of a week's events, for an account that ends.
  const forgetEvents = db.prepare('DELETE FROM events WHERE published = 1 AND instr(event, ?) > 0');
  return {
    async mark({ projectId, userId }, until) {
      mark.run(projectId, userId, until);
    },
    async marked(now) {
      forget.run(now);
      return marked.all() as unknown as Owner[];
    },
    async forgetEvents({ userId }) {
      forgetEvents.run(`"userId":"${userId}"`);
    },
  };
}
