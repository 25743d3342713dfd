import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { Entry, Owner } from '../feed.ts';
import { endOf, expiryBatch, placeOf } from './place.ts';

/** The entries of feeds on SQLite; changing them belongs into the transaction of the feed's change. */
export class SqliteEntries {
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  put(entry: Entry): void {
    const { projectId, userId, id, type, metadata, keepUntil } = entry;
    const requestOf = type === 'connection-request' ? metadata.connectionId : null;
    this.#db
      .prepare('INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)')
      .run(placeOf(entry, entry.seq), projectId, userId, id, requestOf, keepUntil, JSON.stringify(entry));
  }

  remove(entry: Entry): void {
    this.#db.prepare('DELETE FROM entries WHERE place = ?').run(placeOf(entry, entry.seq));
  }

  find({ projectId, userId }: Owner, column: 'id' | 'request_of', value: string): Entry | null {
    const where = `${column} = ? AND project_id = ? AND user_id = ?`;
    return this.#read(`WHERE ${where}`, value, projectId, userId)[0] ?? null;
  }

  newest(owner: Owner, range: { upTo: number; skip: number; limit: number }): Entry[] {
    const { upTo, skip, limit } = range;
    const where = 'WHERE place >= ? AND place < ? ORDER BY place LIMIT ? OFFSET ?';
    return this.#read(where, placeOf(owner, upTo), endOf(owner), limit, skip);
  }

  following(owner: Owner, range: { after: number; upTo: number; limit: number }): Entry[] {
    const { after, upTo, limit } = range;
    const where = 'WHERE place >= ? AND place < ? ORDER BY place DESC LIMIT ?';
    return this.#read(where, placeOf(owner, upTo), placeOf(owner, after), limit);
  }

  ownersOfExpired(now: number): Owner[] {
    return this.#db
      .prepare(
        `SELECT DISTINCT project_id AS projectId, user_id AS userId FROM entries WHERE keep_until < ? LIMIT ?`,
      )
      .all(now, expiryBatch) as unknown as Owner[];
  }

  expired({ projectId, userId }: Owner, now: number): Entry[] {
    const where = 'WHERE keep_until < ? AND project_id = ? AND user_id = ? LIMIT ?';
    return this.#read(where, now, projectId, userId, expiryBatch);
  }

  #read(where: string, ...values: SQLInputValue[]): Entry[] {
    const rows = this.#db.prepare(`SELECT entry FROM entries ${where}`).all(...values) as { entry: string }[];
    return rows.map(({ entry }) => JSON.parse(entry) as Entry);
  }
}
