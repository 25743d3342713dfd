import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { PublicUser } from '@kith/contracts';
import { bulkTransaction } from '../store/sqlite.ts';
import { keepForgottenMs, type Profile, type ProfileCopy, type ProfileStore } from './profiles.ts';

/** The table of a service's copy of public users; part of one of its migrations. */
export const sqliteProfilesTable = `
  CREATE TABLE profiles (id TEXT PRIMARY KEY, seq INTEGER NOT NULL, user TEXT NOT NULL) WITHOUT ROWID;`;
/** What marks of forgotten users need of it, an empty `user` and when they go; part of a later migration. */
export const sqliteForgottenProfiles = `
  ALTER TABLE profiles ADD COLUMN expire_at INTEGER;
  CREATE INDEX profiles_expire ON profiles (expire_at) WHERE expire_at IS NOT NULL;`;

/** The own copy of public users on SQLite, in the table `profiles`, with what a service adds to each. */
export class SqliteProfileCopy implements ProfileCopy {
  readonly #db: DatabaseSync;
  readonly #columns: readonly ((user: PublicUser) => string)[];
  readonly #select: StatementSync;
  readonly #keep: StatementSync;

  /** @param columns Further columns of the table, with what they hold of a user. */
  constructor(db: DatabaseSync, columns: Readonly<Record<string, (user: PublicUser) => string>> = {}) {
    this.#db = db;
    this.#columns = Object.values(columns);
    this.#select = db.prepare('SELECT user FROM profiles WHERE id = ?');
    const names = ['seq', 'user', ...Object.keys(columns)];
    this.#keep = db.prepare(
      `INSERT INTO profiles (id, ${names.join(', ')}) VALUES (?${', ?'.repeat(names.length)})
         ON CONFLICT (id) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join(', ')}
         WHERE excluded.seq > seq`,
    );
  }

  async find(projectId: string, userIds: readonly string[]): Promise<Map<string, PublicUser>> {
    const found = new Map<string, PublicUser>();
    for (const userId of userIds) {
      const row = this.#select.get(`${projectId}|${userId}`) as { user: string } | undefined;
      if (row?.user) found.set(userId, JSON.parse(row.user) as PublicUser);
    }
    return found;
  }

  async keep(profile: Profile): Promise<void> {
    this.write(profile);
  }

  async keepAll(profiles: readonly Profile[]): Promise<void> {
    bulkTransaction(this.#db, () => {
      for (const profile of profiles) this.write(profile);
    });
  }

  /** Writes a profile's row, unless the one that is there is as new. */
  protected write({ seq, user }: Profile): void {
    const further = this.#columns.map((make) => make(user));
    this.#keep.run(`${user.projectId}|${user.id}`, seq, JSON.stringify(user), ...further);
  }
}

/** The own copy on SQLite, with marks of users whose accounts have ended in the places of their profiles. */
export class SqliteProfiles extends SqliteProfileCopy implements ProfileStore {
  readonly #forget: StatementSync;
  readonly #expire: StatementSync;
  readonly #isMark: StatementSync;

  constructor(db: DatabaseSync) {
    super(db);
    this.#forget = db.prepare(
      `INSERT INTO profiles (id, seq, user, expire_at) VALUES (?, ?, '', ?)
         ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, user = '', expire_at = excluded.expire_at
         WHERE user <> ''`,
    );
    this.#expire = db.prepare('DELETE FROM profiles WHERE expire_at < ?');
    this.#isMark = db.prepare(`SELECT 1 FROM profiles WHERE id = ? AND user = ''`);
  }

  async forget(of: { projectId: string; userId: string; seq: number }): Promise<void> {
    const now = Date.now();
    this.#forget.run(`${of.projectId}|${of.userId}`, of.seq, now + keepForgottenMs);
    this.#expire.run(now);
  }

  async forgotten(projectId: string, userIds: readonly string[]): Promise<Set<string>> {
    return new Set(userIds.filter((userId) => this.#isMark.get(`${projectId}|${userId}`)));
  }
}
