import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { transaction } from '@kith/service';
import type { SqliteEntities } from './sqlite-entities.ts';

/** Rows of one kind a step touches: a few milliseconds, in which no request is served. */
const batch = 200;

interface Dead {
  place: string;
  projectId: string;
  id: string;
}

/**
 * Purges deleted collections on SQLite. What stands below is marked as deleted itself before anything that leads to
 * it is taken away, so that a process may die anywhere. The deepest go first: few are marked at a time, however many
 * there are.
 */
export class SqlitePurge {
  readonly #db: DatabaseSync;
  readonly #entities: SqliteEntities;
  readonly #dead: StatementSync;
  readonly #markBelow: StatementSync;
  readonly #remove: StatementSync;

  constructor(db: DatabaseSync, entities: SqliteEntities) {
    this.#db = db;
    this.#entities = entities;
    this.#dead = db.prepare(
      `SELECT place, project_id AS projectId, id FROM collections WHERE purge_depth IS NOT NULL
         ORDER BY purge_depth DESC LIMIT ?`,
    );
    this.#markBelow = db.prepare(
      `UPDATE collections SET purge_depth = json_array_length(ancestors), rev = rev + 1 WHERE place IN
         (SELECT place FROM collections
            WHERE parent_id IN (SELECT value FROM json_each(?)) AND purge_depth IS NULL LIMIT ?)`,
    );
    this.#remove = db.prepare('DELETE FROM collections WHERE place = ?');
  }

  /** Takes one step; `false` when nothing is left to do. */
  step(): boolean {
    return transaction(this.#db, () => {
      const dead = this.#dead.all(batch) as unknown as Dead[];
      if (dead.length === 0) return false;
      const ids = JSON.stringify(dead.map(({ id }) => id));
      if (this.#markBelow.run(ids, batch).changes > 0) return true;
      let left = batch;
      for (const one of dead) {
        left -= this.#entities.erase(one, left);
        if (left === 0) break;
        this.#remove.run(one.place);
      }
      return true;
    });
  }
}
