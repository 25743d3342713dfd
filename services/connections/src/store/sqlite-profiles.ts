import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { PublicUser } from '@kith/contracts';
import { fold } from '@kith/service';
import type { Profile, SearchKeys } from './index.ts';

/** The own copy of public users, on SQLite. */
export class SqliteProfiles {
  readonly #select: StatementSync;
  readonly #selectKeys: StatementSync;
  readonly #keep: StatementSync;

  constructor(db: DatabaseSync) {
    this.#select = db.prepare('SELECT user FROM profiles WHERE id = ?');
    this.#selectKeys = db.prepare(
      'SELECT usernameKey AS username, nameKey AS name FROM profiles WHERE id = ?',
    );
    this.#keep = db.prepare(
      // Not of a user whose account has ended.
      `INSERT INTO profiles (id, seq, user, usernameKey, nameKey)
         SELECT :id, :seq, :user, :username, :name WHERE NOT EXISTS (SELECT 1 FROM ended_users WHERE id = :id)
         ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, user = excluded.user,
           usernameKey = excluded.usernameKey, nameKey = excluded.nameKey
         WHERE excluded.seq > seq`,
    );
  }

  find(projectId: string, userIds: readonly string[]): Map<string, PublicUser> {
    const found = new Map<string, PublicUser>();
    for (const userId of userIds) {
      const row = this.#select.get(`${projectId}|${userId}`) as { user: string } | undefined;
      if (row) found.set(userId, JSON.parse(row.user) as PublicUser);
    }
    return found;
  }

  searchKeys(projectId: string, userIds: readonly string[]): Map<string, SearchKeys> {
    const found = new Map<string, SearchKeys>();
    for (const userId of userIds) {
      const row = this.#selectKeys.get(`${projectId}|${userId}`) as SearchKeys | undefined;
      if (row) found.set(userId, row);
    }
    return found;
  }

  keep({ seq, user }: Profile): void {
    this.#keep.run({
      id: `${user.projectId}|${user.id}`,
      seq,
      user: JSON.stringify(user),
      username: fold(user.username ?? ''),
      name: fold(user.name ?? ''),
    });
  }
}
