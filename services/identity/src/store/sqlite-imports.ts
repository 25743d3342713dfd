import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { bulkTransaction } from '@kith/service';
import { endedIds } from '../user-ids.ts';
import type { ImportOutcome, ImportStore } from './imports.ts';
import type { User } from './index.ts';
import { insertUser, rowOf, userFields, userOf } from './sqlite-users.ts';

export const importsMigration = `
  CREATE TABLE hash_kinds (projectId TEXT NOT NULL, kind TEXT NOT NULL, PRIMARY KEY (projectId, kind)) WITHOUT ROWID;`;

/** Brings users in on SQLite: a batch is one transaction. */
export class SqliteImports implements ImportStore {
  readonly #db: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #elsewhere: StatementSync;
  readonly #find: StatementSync;
  readonly #hasEnded: StatementSync;
  readonly #anyEnded: StatementSync;
  readonly #byForeignId: StatementSync;
  readonly #byEmail: StatementSync;
  readonly #note: StatementSync;
  readonly #kinds: StatementSync;
  readonly #replaceHash: StatementSync;
  readonly #knownIds: StatementSync;
  readonly #knownForeignIds: StatementSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#insert = db.prepare(`${insertUser} ON CONFLICT DO NOTHING`);
    this.#elsewhere = db.prepare('SELECT 1 FROM users WHERE id = ? AND projectId <> ?');
    this.#find = db.prepare(`SELECT ${userFields.join(', ')} FROM users WHERE projectId = ? AND id = ?`);
    this.#hasEnded = db.prepare(
      `SELECT 1 FROM deleted_users WHERE projectId = :projectId AND id = :id
         UNION ALL SELECT 1 FROM ended_users WHERE projectId = :projectId AND id = :id AND until > :now`,
    );
    this.#anyEnded = db.prepare(
      `SELECT 1 FROM deleted_users WHERE projectId = :projectId
         UNION ALL SELECT 1 FROM ended_users WHERE projectId = :projectId`,
    );
    this.#byForeignId = db.prepare('SELECT 1 FROM users WHERE projectId = ? AND foreignId = ?');
    this.#byEmail = db.prepare('SELECT 1 FROM users WHERE projectId = ? AND email = ?');
    this.#note = db.prepare('INSERT INTO hash_kinds (projectId, kind) VALUES (?, ?) ON CONFLICT DO NOTHING');
    this.#kinds = db.prepare('SELECT kind FROM hash_kinds WHERE projectId = ?');
    this.#replaceHash = db.prepare(
      'UPDATE users SET passwordHash = ? WHERE projectId = ? AND id = ? AND passwordHash = ?',
    );
    this.#knownIds = db.prepare(
      'SELECT id FROM users WHERE projectId = ? AND id IN (SELECT value FROM json_each(?))',
    );
    this.#knownForeignIds = db.prepare(
      'SELECT foreignId, id FROM users WHERE projectId = ? AND foreignId IN (SELECT value FROM json_each(?))',
    );
  }

  async add(projectId: string, users: readonly User[]): Promise<ImportOutcome[]> {
    const now = Date.now();
    return bulkTransaction(this.#db, () => {
      const mayHaveEnded = this.#anyEnded.get({ projectId }) !== undefined;
      return users.map((user) => this.#add(user, { mayHaveEnded, now }));
    });
  }

  async noteHashKinds(
    projectId: string,
    kinds: readonly string[],
    mayAdd: (known: readonly string[], kind: string) => boolean,
  ): Promise<string[]> {
    for (const kind of kinds) {
      if (mayAdd(this.#kindsOf(projectId), kind)) this.#note.run(projectId, kind);
    }
    return this.#kindsOf(projectId);
  }

  async hashKinds(projectId: string): Promise<string[]> {
    return this.#kindsOf(projectId);
  }

  async replaceHash(
    { projectId, id }: Pick<User, 'projectId' | 'id'>,
    from: string,
    to: string,
  ): Promise<void> {
    this.#replaceHash.run(to, projectId, id, from);
  }

  async known(projectId: string, of: { ids: readonly string[]; foreignIds: readonly string[] }) {
    const ids = this.#knownIds.all(projectId, JSON.stringify(of.ids)).map(({ id }) => id as string);
    const rows = this.#knownForeignIds.all(projectId, JSON.stringify(of.foreignIds));
    return { ids, foreignIds: rows.map((row) => ({ ...row }) as { foreignId: string; id: string }) };
  }

  #kindsOf(projectId: string): string[] {
    return this.#kinds.all(projectId).map(({ kind }) => kind as string);
  }

  #add(user: User, { mayHaveEnded, now }: { mayHaveEnded: boolean; now: number }): ImportOutcome {
    const { projectId, id, foreignId, email } = user;
    const there = userOf(this.#find.get(projectId, id));
    if (there) return { there };
    const hasEnded = (ended: string) => this.#hasEnded.get({ projectId, id: ended, now }) !== undefined;
    if (mayHaveEnded && endedIds(user).some(hasEnded)) return 'deleted';
    if (this.#elsewhere.get(id, projectId)) return 'id-taken';
    if (this.#insert.run(rowOf(user)).changes > 0) return 'stored';
    if (this.#byForeignId.get(projectId, foreignId)) return 'foreign-id-taken';
    return this.#byEmail.get(projectId, email) ? 'email-taken' : 'username-taken';
  }
}
