import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { keepForgottenMs, transaction } from '@kith/service';
import type { Pair } from '../pair.ts';
import type { EndedUser, ErasureStore } from './index.ts';
import { pairEvents } from './keys.ts';

type UserKey = Pick<EndedUser, 'projectId' | 'userId'>;

/** Erases users on SQLite. */
export class SqliteErasure implements ErasureStore {
  readonly #db: DatabaseSync;
  readonly #mark: StatementSync;
  readonly #due: StatementSync;
  readonly #lookAgain: StatementSync;
  readonly #partners: StatementSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#mark = db.prepare(
      'INSERT INTO ended_users (id, ended_at, erase_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    );
    this.#due = db.prepare('SELECT id, ended_at AS endedAt FROM ended_users WHERE erase_at <= ? LIMIT ?');
    this.#lookAgain = db.prepare('UPDATE ended_users SET erase_at = ? WHERE id = ?');
    this.#partners = db.prepare(
      `SELECT higher AS id FROM pairs WHERE project_id = ? AND lower = ?
         UNION ALL SELECT lower FROM pairs WHERE project_id = ? AND higher = ?`,
    );
  }

  async end({ projectId, userId, endedAt }: EndedUser): Promise<void> {
    const id = `${projectId}|${userId}`;
    transaction(this.#db, () => {
      this.#mark.run(id, endedAt.getTime(), endedAt.getTime());
      this.#db.prepare('DELETE FROM profiles WHERE id = ?').run(id);
    });
  }

  async due(now: Date, limit: number): Promise<EndedUser[]> {
    const rows = this.#due.all(now.getTime(), limit) as { id: string; endedAt: number }[];
    return rows.map(({ id, endedAt }) => {
      const [projectId, userId] = id.split('|') as [string, string];
      return { projectId, userId, endedAt: new Date(endedAt) };
    });
  }

  async lookAgain({ projectId, userId }: UserKey, at: Date | null): Promise<void> {
    this.#lookAgain.run(at?.getTime() ?? null, `${projectId}|${userId}`);
  }

  async partners({ projectId, userId }: UserKey): Promise<string[]> {
    const rows = this.#partners.all(projectId, userId, projectId, userId) as { id: string }[];
    return rows.map(({ id }) => id);
  }

  async removePair(pair: Pair): Promise<boolean> {
    const { projectId, lower, higher, rev } = pair;
    const { range, last } = pairEvents(pair);
    return transaction(this.#db, () => {
      const waiting =
        'SELECT 1 FROM events WHERE key > ? AND key < ? AND (key <> ? OR published = 0) LIMIT 1';
      if (this.#db.prepare(waiting).get(range.from, range.to, last)) return false;
      const removed = this.#db
        .prepare('DELETE FROM pairs WHERE project_id = ? AND lower = ? AND higher = ? AND rev = ?')
        .run(projectId, lower, higher, rev);
      return removed.changes > 0;
    });
  }

  async removeTotals({ projectId, userId }: UserKey): Promise<void> {
    this.#db.prepare('DELETE FROM heads WHERE id = ?').run(`${projectId}|${userId}`);
  }

  /** Takes away marks that have done their work. */
  forget(): void {
    this.#db.prepare('DELETE FROM ended_users WHERE ended_at < ?').run(Date.now() - keepForgottenMs);
  }
}
