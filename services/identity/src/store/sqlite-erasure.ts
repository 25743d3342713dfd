import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { EventEnvelope } from '@kith/contracts';
import { type SqliteOutbox, transaction } from '@kith/service';
import { userEvents } from '../user-events.ts';
import { endedIds } from '../user-ids.ts';
import { type DeletedUser, type ErasureStore, keepEndedMs, type User } from './index.ts';

export const endedMigration = `
  CREATE TABLE ended_users (projectId TEXT NOT NULL, id TEXT NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (projectId, id))
    WITHOUT ROWID;
  CREATE INDEX ended_users_until ON ended_users (until);`;

/** Ends accounts on SQLite: the row goes at once, a mark stays until the rest can go. */
export class SqliteErasure implements ErasureStore {
  readonly #db: DatabaseSync;
  readonly #outbox: SqliteOutbox;
  readonly #deleteUser: StatementSync;
  readonly #mark: StatementSync;
  readonly #unmark: StatementSync;
  readonly #marked: StatementSync;
  readonly #isWaiting: StatementSync;
  readonly #end: StatementSync;
  readonly #forgetEnded: StatementSync;

  constructor(db: DatabaseSync, outbox: SqliteOutbox) {
    this.#db = db;
    this.#outbox = outbox;
    this.#deleteUser = db.prepare('DELETE FROM users WHERE projectId = ? AND id = ? AND rev = ?');
    this.#mark = db.prepare('INSERT INTO deleted_users (projectId, id, seq, deletedAt) VALUES (?, ?, ?, ?)');
    this.#unmark = db.prepare('DELETE FROM deleted_users WHERE projectId = ? AND id = ?');
    this.#marked = db.prepare(
      'SELECT projectId, id AS userId, seq, deletedAt FROM deleted_users ORDER BY deletedAt LIMIT ?',
    );
    this.#end = db.prepare(
      `INSERT INTO ended_users (projectId, id, until) VALUES (?, ?, ?)
         ON CONFLICT (projectId, id) DO UPDATE SET until = max(until, excluded.until)`,
    );
    this.#forgetEnded = db.prepare('DELETE FROM ended_users WHERE until < ?');
    this.#isWaiting = db.prepare(
      'SELECT 1 FROM events WHERE key > ? AND key < ? AND (key <> ? OR published = 0) LIMIT 1',
    );
  }

  async remove(user: User, event: EventEnvelope): Promise<'stored' | 'stale'> {
    const { projectId, id, rev } = user;
    return transaction(this.#db, () => {
      if (this.#deleteUser.run(projectId, id, rev).changes === 0) return 'stale';
      this.#mark.run(projectId, id, event.aggregate.seq, Date.parse(event.occurredAt));
      for (const ended of endedIds(user)) this.#end.run(projectId, ended, Date.now() + keepEndedMs);
      this.#outbox.add(event);
      return 'stored';
    });
  }

  async unfinished(limit: number): Promise<DeletedUser[]> {
    const rows = this.#marked.all(limit) as unknown as (Omit<DeletedUser, 'deletedAt'> & {
      deletedAt: number;
    })[];
    return rows.map((row) => ({ ...row, deletedAt: new Date(row.deletedAt) }));
  }

  async finish({ projectId, userId, seq }: DeletedUser): Promise<boolean> {
    const { range, last } = userEvents({ projectId, userId, seq });
    if (this.#isWaiting.get(range.from, range.to, last)) return false;
    transaction(this.#db, () => {
      this.#forgetEnded.run(Date.now());
      this.#end.run(projectId, userId, Date.now() + keepEndedMs);
      this.#unmark.run(projectId, userId);
    });
    return true;
  }
}
