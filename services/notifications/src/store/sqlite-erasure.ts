import type { DatabaseSync } from 'node:sqlite';
import { transaction } from '@kith/service';
import type { Entry, Owner } from '../feed.ts';
import { blankedEvent } from '../initiator.ts';
import type { EndedUser, ErasureStore } from './index.ts';
import { endOf, eventsOf, feedKey, initiatorText } from './place.ts';
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

  async blankEvents({ projectId, userId }: Owner, limit: number): Promise<number> {
    // A walk over what a project's feeds have told in a week, for an account that ends.
    const rows = this.#db
      .prepare('SELECT key, event FROM events WHERE key > ? AND key < ? AND instr(event, ?) > 0 LIMIT ?')
      .all(`${projectId}|feed|`, `${projectId}|feed}`, initiatorText(userId), limit) as {
      key: string;
      event: string;
    }[];
    const blank = this.#db.prepare('UPDATE events SET event = ? WHERE key = ?');
    transaction(this.#db, () => {
      for (const { key, event } of rows) blank.run(blankedEvent(event), key);
    });
    return rows.length;
  }

  async removeFeed(user: Owner): Promise<boolean> {
    const { from, to } = eventsOf(user);
    return transaction(this.#db, () => {
      this.#db.prepare('DELETE FROM feeds WHERE id = ?').run(feedKey(user));
      this.#db.prepare('DELETE FROM events WHERE key > ? AND key < ? AND published = 1').run(from, to);
      return !this.#db.prepare('SELECT 1 FROM events WHERE key > ? AND key < ? LIMIT 1').get(from, to);
    });
  }
}
