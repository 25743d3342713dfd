import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { PublicUser } from '@kith/contracts';
import { keepForgottenMs, type Profile, type ProfileStore } from './profiles.ts';

/** The table of a service's copy of public users; part of one of its migrations. */
export const sqliteProfilesTable = `
  CREATE TABLE profiles (id TEXT PRIMARY KEY, seq INTEGER NOT NULL, user TEXT NOT NULL) WITHOUT ROWID;`;
/** What marks of forgotten users need of it, an empty `user` and when they go; part of a later migration. */
export const sqliteForgottenProfiles = `
  ALTER TABLE profiles ADD COLUMN expire_at INTEGER;
  CREATE INDEX profiles_expire ON profiles (expire_at) WHERE expire_at IS NOT NULL;`;

/** The own copy of public users on SQLite. */
export class SqliteProfiles implements ProfileStore {
  readonly #select: StatementSync;
  readonly #keep: StatementSync;
  readonly #forget: StatementSync;
  readonly #expire: StatementSync;

  constructor(db: DatabaseSync) {
    this.#select = db.prepare('SELECT user FROM profiles WHERE id = ?');
    this.#keep = db.prepare(
      `INSERT INTO profiles (id, seq, user) VALUES (?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, user = excluded.user WHERE excluded.seq > seq`,
    );
    this.#forget = db.prepare(
      `INSERT INTO profiles (id, seq, user, expire_at) VALUES (?, ?, '', ?)
         ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, user = '', expire_at = excluded.expire_at
         WHERE user <> ''`,
    );
    this.#expire = db.prepare('DELETE FROM profiles WHERE expire_at < ?');
  }

  async find(projectId: string, userIds: readonly string[]): Promise<Map<string, PublicUser>> {
    const found = new Map<string, PublicUser>();
    for (const userId of userIds) {
      const row = this.#select.get(`${projectId}|${userId}`) as { user: string } | undefined;
      if (row?.user) found.set(userId, JSON.parse(row.user) as PublicUser);
    }
    return found;
  }

  async keep({ seq, user }: Profile): Promise<void> {
    this.#keep.run(`${user.projectId}|${user.id}`, seq, JSON.stringify(user));
  }

  async forget({
    projectId,
    userId,
    seq,
  }: {
    projectId: string;
    userId: string;
    seq: number;
  }): Promise<void> {
    const now = Date.now();
    this.#forget.run(`${projectId}|${userId}`, seq, now + keepForgottenMs);
    this.#expire.run(now);
  }

  async forgotten(projectId: string, userIds: readonly string[]): Promise<Set<string>> {
    return new Set(
      userIds.filter((userId) => {
        const row = this.#select.get(`${projectId}|${userId}`) as { user: string } | undefined;
        return row?.user === '';
      }),
    );
  }
}
