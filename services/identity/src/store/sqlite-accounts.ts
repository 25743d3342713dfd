import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { EventEnvelope } from '@kith/contracts';
import { type SqliteOutbox, transaction } from '@kith/service';
import type { AccountStore, Ending, RevocationReason } from './accounts.ts';
import type { User } from './index.ts';

/** Columns of `users` that signing in needs. */
export const accountsMigration = `
  ALTER TABLE users ADD COLUMN sessionEpoch INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE users ADD COLUMN keptSession TEXT;
  ALTER TABLE users ADD COLUMN suspendedAt INTEGER;
  ALTER TABLE users ADD COLUMN endingReason TEXT;
  CREATE INDEX users_suspended ON users (suspendedAt) WHERE suspendedAt IS NOT NULL;
  CREATE INDEX users_ending ON users (endingReason) WHERE endingReason IS NOT NULL;`;

/** The part of users that concerns signing in, on SQLite. */
export class SqliteAccounts implements AccountStore {
  readonly #db: DatabaseSync;
  readonly #outbox: SqliteOutbox;
  readonly #update: StatementSync;
  readonly #selectEndings: StatementSync;
  readonly #ended: StatementSync;
  readonly #selectSuspended: StatementSync;

  constructor(db: DatabaseSync, outbox: SqliteOutbox) {
    this.#db = db;
    this.#outbox = outbox;
    this.#update = db.prepare(
      `UPDATE users SET passwordHash = :passwordHash, isActive = :isActive, suspendedAt = :suspendedAt,
              sessionEpoch = :sessionEpoch, keptSession = :keptSession, updatedAt = :updatedAt, rev = :rev, seq = :seq,
              endingReason = coalesce(:ending, endingReason)
        WHERE projectId = :projectId AND id = :id AND rev = :rev - 1`,
    );
    this.#selectEndings = db.prepare(
      `SELECT projectId, id AS userId, sessionEpoch AS epoch, endingReason AS reason FROM users
        WHERE endingReason IS NOT NULL LIMIT ?`,
    );
    this.#ended = db.prepare(
      'UPDATE users SET endingReason = NULL WHERE projectId = ? AND id = ? AND sessionEpoch = ?',
    );
    this.#selectSuspended = db.prepare('SELECT id AS userId, suspendedAt FROM users WHERE suspendedAt >= ?');
  }

  async update(
    user: User,
    { event, ending }: { event: EventEnvelope | null; ending: RevocationReason | null },
  ): Promise<'stored' | 'stale'> {
    const { projectId, id, passwordHash, sessionEpoch, keptSession, rev, seq } = user;
    const change = {
      ...{ projectId, id, passwordHash, sessionEpoch, keptSession, rev, seq, ending },
      isActive: Number(user.isActive),
      suspendedAt: user.suspendedAt?.getTime() ?? null,
      updatedAt: user.updatedAt.getTime(),
    };
    return transaction(this.#db, () => {
      if (this.#update.run(change).changes === 0) return 'stale';
      if (event) this.#outbox.add(event);
      return 'stored';
    });
  }

  async endings(limit: number): Promise<Ending[]> {
    return this.#selectEndings.all(limit) as unknown as Ending[];
  }

  async ended({ projectId, userId, epoch }: Ending): Promise<void> {
    this.#ended.run(projectId, userId, epoch);
  }

  async suspendedSince(since: Date): Promise<{ userId: string; at: Date }[]> {
    const rows = this.#selectSuspended.all(since.getTime()) as unknown as {
      userId: string;
      suspendedAt: number;
    }[];
    return rows.map(({ userId, suspendedAt }) => ({ userId, at: new Date(suspendedAt) }));
  }
}
