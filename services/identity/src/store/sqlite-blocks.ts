import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { transaction } from '@kith/service';
import { type Block, type BlockStore, mirrorOf, rangeOf, rowsOf } from './blocks.ts';

export const blocksMigration = `
  CREATE TABLE blocks (
    key TEXT PRIMARY KEY, otherId TEXT NOT NULL, isBlocked INTEGER NOT NULL, seq INTEGER NOT NULL
  ) WITHOUT ROWID;`;

/** The copy of the blocks on SQLite. */
export class SqliteBlocks implements BlockStore {
  readonly #db: DatabaseSync;
  readonly #keep: StatementSync;
  readonly #select: StatementSync;
  readonly #delete: StatementSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#keep = db.prepare(
      `INSERT INTO blocks (key, otherId, isBlocked, seq) VALUES (?, ?, ?, ?)
         ON CONFLICT (key) DO UPDATE SET isBlocked = excluded.isBlocked, seq = excluded.seq
          WHERE excluded.seq > seq`,
    );
    this.#select = db.prepare('SELECT key, otherId, isBlocked FROM blocks WHERE key > ? AND key < ?');
    this.#delete = db.prepare('DELETE FROM blocks WHERE key = ?');
  }

  async keep(block: Block): Promise<void> {
    transaction(this.#db, () => {
      for (const { key, otherId } of rowsOf(block)) {
        this.#keep.run(key, otherId, Number(block.isBlocked), block.seq);
      }
    });
  }

  async hiddenFrom(projectId: string, userId: string): Promise<string[]> {
    return this.#rows(projectId, userId)
      .filter(({ isBlocked }) => isBlocked === 1)
      .map(({ otherId }) => otherId);
  }

  async forget(projectId: string, userId: string): Promise<void> {
    transaction(this.#db, () => {
      for (const { key } of this.#rows(projectId, userId)) {
        for (const one of [key, mirrorOf(key)]) this.#delete.run(one);
      }
    });
  }

  #rows(projectId: string, userId: string) {
    const { from, to } = rangeOf(projectId, userId);
    return this.#select.all(from, to) as { key: string; otherId: string; isBlocked: number }[];
  }
}
