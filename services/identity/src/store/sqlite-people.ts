import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { ListPage, ListRange } from '../listing.ts';
import type { PeopleStore, User } from './index.ts';
import { userFields, userOf } from './sqlite-users.ts';

const contains = ['usernameKey', 'nameKey', 'email'].map((key) => `instr(${key}, :search) > 0`).join(' OR ');
/** Above every text that begins alike: the last code point. */
const end = '\u{10ffff}';

/** Looks people up on SQLite. */
export class SqlitePeople implements PeopleStore {
  readonly #byUsername: StatementSync;
  readonly #byForeignId: StatementSync;
  readonly #after: StatementSync;
  readonly #projectOf: StatementSync;
  readonly #count: StatementSync;
  readonly #page: StatementSync;
  readonly #suggest: readonly StatementSync[];

  constructor(db: DatabaseSync) {
    const select = `SELECT ${userFields.join(', ')} FROM users WHERE projectId = :projectId`;
    const listed = `(:search = '' OR ${contains})`;
    this.#byUsername = db.prepare(`${select} AND usernameKey = lower(:username)`);
    this.#byForeignId = db.prepare(`${select} AND foreignId = :foreignId`);
    this.#after = db.prepare(
      `SELECT ${userFields.join(', ')} FROM users WHERE (projectId, id) > (:projectId, :id)
         ORDER BY projectId, id LIMIT :limit`,
    );
    this.#projectOf = db.prepare('SELECT projectId FROM users WHERE id = :userId');
    this.#count = db.prepare(
      `SELECT count(*) AS total FROM users WHERE projectId = :projectId AND ${listed}`,
    );
    this.#page = db.prepare(
      `${select} AND ${listed} AND place > :after ORDER BY place LIMIT :limit OFFSET :skip`,
    );
    const begins = (key: string) => `${key} >= :search AND ${key} < :search || '${end}' ORDER BY ${key}`;
    this.#suggest = [
      begins('usernameKey'),
      begins('nameKey'),
      '(instr(usernameKey, :search) > 0 OR instr(nameKey, :search) > 0)',
    ].map((condition) =>
      db.prepare(
        `${select} AND id NOT IN (SELECT value FROM json_each(:others)) AND ${condition} LIMIT :limit`,
      ),
    );
  }

  async findByUsername(projectId: string, username: string): Promise<User | null> {
    return userOf(this.#byUsername.get({ projectId, username }));
  }

  async findByForeignId(projectId: string, foreignId: string): Promise<User | null> {
    return userOf(this.#byForeignId.get({ projectId, foreignId }));
  }

  async page(after: string, limit: number): Promise<User[]> {
    const [projectId = '', id = ''] = after.split('|');
    return this.#after
      .all({ projectId, id, limit })
      .map(userOf)
      .filter((user) => user !== null);
  }

  async projectOf(userId: string): Promise<string | null> {
    const row = this.#projectOf.get({ userId }) as { projectId: string } | undefined;
    return row?.projectId ?? null;
  }

  async list(projectId: string, search: string, { from, limit }: ListRange): Promise<ListPage<User>> {
    const { total } = this.#count.get({ projectId, search }) as { total: number };
    const skip = 'skip' in from ? from.skip : 0;
    if (skip >= total) return { rows: [], total };
    const after = 'after' in from ? from.after : '';
    const rows = this.#page.all({ projectId, search, after, limit, skip });
    return { rows: rows.map(userOf).filter((user) => user !== null), total };
  }

  async suggest(
    projectId: string,
    search: string,
    { limit, except }: { limit: number; except: readonly string[] },
  ): Promise<User[]> {
    const users = new Map<string, User>();
    for (const select of this.#suggest) {
      if (users.size >= limit) break;
      const others = JSON.stringify([...except, ...users.keys()]);
      for (const row of select.all({ projectId, search, others, limit: limit - users.size })) {
        const user = userOf(row);
        if (user) users.set(user.id, user);
      }
    }
    return [...users.values()];
  }
}
