import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type Entry, entryKey, listRange } from '../listing.ts';
import type { ListRange } from './index.ts';

interface Row {
  id: string;
  userId: string;
  message: string | null;
  requestedAt: number;
  connectedAt: number | null;
}

/** The rows of the lists on SQLite; the primary key is the place. */
export class SqliteEdges {
  readonly #insert: StatementSync;
  readonly #delete: StatementSync;
  readonly #select: StatementSync;

  constructor(db: DatabaseSync) {
    this.#insert = db.prepare(
      `INSERT INTO edges (key, id, user_id, message, requested_at, connected_at)
         VALUES (?, ?, ?, ?, ?, ?)`,
    );
    this.#delete = db.prepare('DELETE FROM edges WHERE key = ?');
    this.#select = db.prepare(
      `SELECT id, user_id AS userId, message, requested_at AS requestedAt,
           connected_at AS connectedAt
         FROM edges WHERE key > ? AND key < ? AND key NOT IN (SELECT value FROM json_each(?)) ORDER BY key LIMIT ? OFFSET ?`,
    );
  }

  add(entry: Entry): void {
    const { id, userId, message, requestedAt, connectedAt } = entry;
    const times = [requestedAt.getTime(), connectedAt?.getTime() ?? null];
    this.#insert.run(entryKey(entry), id, userId, message, ...times);
  }

  remove(entry: Entry): void {
    this.#delete.run(entryKey(entry));
  }

  page(range: ListRange): Entry[] {
    const { projectId, ownerId, list, from, limit, without = [] } = range;
    const keys = listRange(range);
    const first = 'after' in from ? keys.from + from.after : keys.from;
    const skip = 'skip' in from ? from.skip : 0;
    const rows = this.#select.all(first, keys.to, JSON.stringify(without), limit, skip);
    return (rows as unknown as Row[]).map(({ requestedAt, connectedAt, ...row }) => ({
      projectId,
      ownerId,
      list,
      ...row,
      requestedAt: new Date(requestedAt),
      connectedAt: connectedAt === null ? null : new Date(connectedAt),
    }));
  }
}
