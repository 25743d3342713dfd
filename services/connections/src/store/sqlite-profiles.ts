import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type Profile, SqliteProfileCopy } from '@kith/service';
import { type SearchKeys, searchKeysOf } from '../search-keys.ts';
import type { SearchableProfiles } from './index.ts';

/** The own copy of public users with their search keys, on SQLite. */
export class SqliteProfiles extends SqliteProfileCopy implements SearchableProfiles {
  readonly #selectKeys: StatementSync;
  readonly #selectEnded: StatementSync;

  constructor(db: DatabaseSync) {
    super(db, {
      usernameKey: (user) => searchKeysOf(user).username,
      nameKey: (user) => searchKeysOf(user).name,
    });
    this.#selectKeys = db.prepare(
      'SELECT usernameKey AS username, nameKey AS name FROM profiles WHERE id = ?',
    );
    this.#selectEnded = db.prepare('SELECT 1 FROM ended_users WHERE id = ?');
  }

  /** Keeps none of a user whose account has ended. */
  protected override write(profile: Profile): void {
    const { projectId, id } = profile.user;
    if (!this.#selectEnded.get(`${projectId}|${id}`)) super.write(profile);
  }

  async searchKeys(projectId: string, userIds: readonly string[]): Promise<Map<string, SearchKeys>> {
    const found = new Map<string, SearchKeys>();
    for (const userId of userIds) {
      const row = this.#selectKeys.get(`${projectId}|${userId}`) as SearchKeys | undefined;
      if (row) found.set(userId, row);
    }
    return found;
  }
}
