import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { EventEnvelope } from '@kith/contracts';
import { fold, isSqliteDuplicate, type SqliteOutbox, transaction } from '@kith/service';
import type { User, UserStore } from './index.ts';

interface UserRow
  extends Omit<
    User,
    'metadata' | 'isVerified' | 'isActive' | 'suspendedAt' | 'lastActive' | 'createdAt' | 'updatedAt'
  > {
  metadata: string;
  isVerified: number;
  isActive: number;
  suspendedAt: number | null;
  lastActive: number | null;
  createdAt: number;
  updatedAt: number;
}

/** The columns that make a user. */
export const userFields = [
  ...['projectId', 'id', 'foreignId', 'email', 'passwordHash', 'role', 'username', 'name', 'avatar', 'bio'],
  ...['location', 'birthdate', 'metadata', 'bannerFileId', 'avatarFileId', 'reputation', 'isVerified'],
  ...['isActive', 'lastActive', 'createdAt', 'updatedAt', 'rev', 'seq'],
  ...['suspendedAt', 'sessionEpoch', 'keptSession'],
];
const stored = [...userFields, 'nameKey'];
/** Stores a row that `rowOf` makes. */
export const insertUser = `INSERT INTO users (${stored.join(', ')}) VALUES (${stored.map((name) => `:${name}`).join(', ')})`;
const changed = [
  'username',
  'name',
  'nameKey',
  'avatar',
  'bio',
  'location',
  'birthdate',
  'metadata',
  'updatedAt',
  'rev',
  'seq',
];

/** Users on SQLite: a row a user; a change and its event are one transaction. */
export class SqliteUsers implements UserStore {
  readonly #db: DatabaseSync;
  readonly #outbox: SqliteOutbox;
  readonly #insert: StatementSync;
  readonly #update: StatementSync;
  readonly #touch: StatementSync;
  readonly #select: StatementSync;
  readonly #selectByForeignId: StatementSync;
  readonly #selectByEmail: StatementSync;
  readonly #selectMany: StatementSync;

  constructor(db: DatabaseSync, outbox: SqliteOutbox) {
    const select = `SELECT ${userFields.join(', ')} FROM users`;
    this.#db = db;
    this.#outbox = outbox;
    this.#insert = db.prepare(insertUser);
    this.#update = db.prepare(
      `UPDATE users SET ${changed.map((name) => `${name} = :${name}`).join(', ')}
        WHERE projectId = :projectId AND id = :id AND rev = :rev - 1`,
    );
    this.#touch = db.prepare(
      'UPDATE users SET lastActive = max(coalesce(lastActive, 0), ?) WHERE projectId = ? AND id = ?',
    );
    this.#select = db.prepare(`${select} WHERE projectId = ? AND id = ?`);
    this.#selectByForeignId = db.prepare(`${select} WHERE projectId = ? AND foreignId = ?`);
    this.#selectByEmail = db.prepare(`${select} WHERE projectId = ? AND email = ?`);
    this.#selectMany = db.prepare(`${select} WHERE projectId = ? AND id IN (SELECT value FROM json_each(?))`);
  }

  async add(
    user: User,
    event: EventEnvelope,
  ): Promise<'stored' | 'foreign-id-taken' | 'email-taken' | 'username-taken'> {
    return transaction(this.#db, () => {
      try {
        this.#insert.run(rowOf(user));
      } catch (error) {
        if (!isSqliteDuplicate(error)) throw error;
        if (this.#selectByForeignId.get(user.projectId, user.foreignId)) return 'foreign-id-taken';
        return this.#selectByEmail.get(user.projectId, user.email) ? 'email-taken' : 'username-taken';
      }
      this.#outbox.add(event);
      return 'stored';
    });
  }

  async update(user: User, event: EventEnvelope): Promise<'stored' | 'stale' | 'username-taken'> {
    const row = rowOf(user);
    const change = Object.fromEntries(
      [...changed, 'projectId', 'id'].map((name) => [name, row[name as keyof typeof row]]),
    );
    return transaction(this.#db, () => {
      try {
        if (this.#update.run(change).changes === 0) return 'stale';
      } catch (error) {
        if (isSqliteDuplicate(error)) return 'username-taken';
        throw error;
      }
      this.#outbox.add(event);
      return 'stored';
    });
  }

  async touch(projectId: string, userId: string, at: Date): Promise<void> {
    this.#touch.run(at.getTime(), projectId, userId);
  }

  async find(projectId: string, userId: string): Promise<User | null> {
    return userOf(this.#select.get(projectId, userId));
  }

  async findByEmail(projectId: string, email: string): Promise<User | null> {
    return userOf(this.#selectByEmail.get(projectId, email));
  }

  async findMany(projectId: string, userIds: readonly string[]): Promise<User[]> {
    const rows = this.#selectMany.all(projectId, JSON.stringify(userIds));
    return rows.map(userOf).filter((user) => user !== null);
  }
}

/** The row that holds a user. */
export function rowOf(user: User) {
  return {
    ...user,
    nameKey: fold(user.name ?? ''),
    metadata: JSON.stringify(user.metadata),
    isVerified: Number(user.isVerified),
    isActive: Number(user.isActive),
    suspendedAt: user.suspendedAt?.getTime() ?? null,
    lastActive: user.lastActive?.getTime() ?? null,
    createdAt: user.createdAt.getTime(),
    updatedAt: user.updatedAt.getTime(),
  };
}

/** The user a row holds. */
export function userOf(found: object | undefined): User | null {
  if (!found) return null;
  const row = found as UserRow;
  return {
    ...row,
    metadata: JSON.parse(row.metadata),
    isVerified: row.isVerified === 1,
    isActive: row.isActive === 1,
    suspendedAt: row.suspendedAt === null ? null : new Date(row.suspendedAt),
    lastActive: row.lastActive === null ? null : new Date(row.lastActive),
    createdAt: new Date(row.createdAt),
    updatedAt: new Date(row.updatedAt),
  };
}
