import type { DatabaseSync } from 'node:sqlite';
import type { Entry, Owner } from '../feed.ts';
import type { EndedUser, ErasureStore } from './index.ts';
import { endOf, eventsOf, eventsTelling, feedKey } from './place.ts';
import { initiatorColumn } from './sqlite-schema.ts';

/** Erases users on SQLite. */
export class SqliteErasure implements ErasureStore {
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  async mark(user: Owner, endedAt: number): Promise<void> {
    this.#db
      .prepare('INSERT INTO ended_users (id, ended_at, look_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
      .run(feedKey(user), endedAt, endedAt);
  }

  async due(now: number, limit: number): Promise<EndedUser[]> {
    const rows = this.#db
      .prepare('SELECT id, ended_at AS endedAt FROM ended_users WHERE look_at <= ? ORDER BY look_at LIMIT ?')
      .all(now, limit) as { id: string; endedAt: number }[];
    return rows.map(({ id, endedAt }) => {
      const [projectId, userId] = id.split('|') as [string, string];
      return { projectId, userId, endedAt };
    });
  }

  async lookAgain(user: Owner, at: number | null): Promise<void> {
    const id = feedKey(user);
    if (at === null) this.#db.prepare('DELETE FROM ended_users WHERE id = ?').run(id);
    else this.#db.prepare('UPDATE ended_users SET look_at = ? WHERE id = ?').run(at, id);
  }

  async tellingOf({ projectId, userId }: Owner, limit: number): Promise<Entry[]> {
    const rows = this.#db
      .prepare(`SELECT entry FROM entries WHERE project_id = ? AND ${initiatorColumn} = ? LIMIT ?`)
      .all(projectId, userId, limit) as { entry: string }[];
    return rows.map(({ entry }) => JSON.parse(entry) as Entry);
  }

  async removeEntries(user: Owner, limit: number): Promise<number> {
    const some = 'SELECT place FROM entries WHERE place > ? AND place < ? LIMIT ?';
    const { changes } = this.#db
      .prepare(`DELETE FROM entries WHERE place IN (${some})`)
      .run(feedKey(user), endOf(user), limit);
    return Number(changes);
  }

  async removeFeed(user: Owner): Promise<boolean> {
    const { from, to } = eventsOf(user);
    const others = eventsTelling(user);
    this.#db.prepare('DELETE FROM feeds WHERE id = ?').run(feedKey(user));
    const own = this.#db.prepare('SELECT 1 FROM events WHERE key > ? AND key < ? LIMIT 1').get(from, to);
    const telling = this.#db
      .prepare(
        'SELECT 1 FROM events WHERE key > ? AND key < ? AND published = 0 AND instr(event, ?) > 0 LIMIT 1',
      )
      .get(others.from, others.to, others.telling);
    return !own && !telling;
  }
}
