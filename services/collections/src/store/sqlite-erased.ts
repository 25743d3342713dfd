import type { DatabaseSync } from 'node:sqlite';
import type { Owner } from '../collection.ts';
import type { ErasedStore } from './index.ts';

/** Marks of erased users on SQLite. */
export function sqliteErased(db: DatabaseSync): ErasedStore {
  const mark = db.prepare('INSERT OR REPLACE INTO erased (project_id, user_id, until) VALUES (?, ?, ?)');
  const forget = db.prepare('DELETE FROM erased WHERE until < ?');
  const marked = db.prepare('SELECT project_id AS projectId, user_id AS userId FROM erased');
  return {
    async mark({ projectId, userId }, until) {
      mark.run(projectId, userId, until);
    },
    async marked(now) {
      forget.run(now);
      return marked.all() as unknown as Owner[];
    },
  };
}
