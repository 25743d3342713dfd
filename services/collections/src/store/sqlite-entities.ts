import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { CollectionRecord, Owner } from '../collection.ts';
import type { EntityChange, EntityRecord } from '../entity.ts';
import { entityPlace, entityRange, savedKey } from './entity-place.ts';
import type { EntityRange } from './index.ts';

const columns = 'entity_id AS entityId, added_at AS addedAt, metadata';

/** What is saved in collections, on SQLite; the primary key is the place. */
export class SqliteEntities {
  readonly #find: StatementSync;
  readonly #homes: StatementSync;
  readonly #insert: StatementSync;
  readonly #delete: StatementSync;
  readonly #erase: StatementSync;
  readonly #oldestFirst: StatementSync;
  readonly #newestFirst: StatementSync;

  constructor(db: DatabaseSync) {
    this.#find = db.prepare(`SELECT ${columns} FROM entities WHERE saved = ? AND collection_id = ?`);
    this.#homes = db.prepare('SELECT collection_id AS id FROM entities WHERE saved = ?');
    this.#insert = db.prepare('INSERT INTO entities VALUES (?, ?, ?, ?, ?, ?)');
    this.#delete = db.prepare('DELETE FROM entities WHERE place = ?');
    this.#erase = db.prepare(
      `DELETE FROM entities WHERE place IN
         (SELECT place FROM entities WHERE place > ? AND place < ? ORDER BY place LIMIT ?)`,
    );
    const list = (order: string) =>
      db.prepare(
        `SELECT ${columns} FROM entities WHERE place > ? AND place < ?
           ORDER BY place ${order} LIMIT ? OFFSET ?`,
      );
    this.#oldestFirst = list('ASC');
    this.#newestFirst = list('DESC');
  }

  find(collection: CollectionRecord, entityId: string): EntityRecord | null {
    const row = this.#find.get(savedKey(collection, entityId), collection.id);
    return row ? fromRow(row) : null;
  }

  /** The ids of an owner's collections that hold an entity, deleted ones too. */
  homes(owner: Owner, entityId: string): string[] {
    return this.#homes.all(savedKey(owner, entityId)).map(({ id }) => id as string);
  }

  /** Writes the row; call it inside the transaction of the change. */
  write(collection: CollectionRecord, { kind, entity }: EntityChange): void {
    const place = entityPlace(collection, entity);
    if (kind === 'remove') {
      this.#delete.run(place);
      return;
    }
    const { entityId, addedAt, metadata } = entity;
    const saved = savedKey(collection, entityId);
    this.#insert.run(place, saved, collection.id, entityId, addedAt, JSON.stringify(metadata));
  }

  list(collection: CollectionRecord, { from, limit, newestFirst }: EntityRange): EntityRecord[] {
    const keys = entityRange(collection);
    const edge = 'after' in from ? keys.from + from.after : undefined;
    const skip = 'skip' in from ? from.skip : 0;
    const rows = newestFirst
      ? this.#newestFirst.all(keys.from, edge ?? keys.to, limit, skip)
      : this.#oldestFirst.all(edge ?? keys.from, keys.to, limit, skip);
    return rows.map(fromRow);
  }

  /** Takes away at most `limit` rows of a deleted collection, and tells how many. */
  erase(collection: Pick<CollectionRecord, 'projectId' | 'id'>, limit: number): number {
    const { from, to } = entityRange(collection);
    return Number(this.#erase.run(from, to, limit).changes);
  }
}

function fromRow(row: Record<string, unknown>): EntityRecord {
  const { entityId, addedAt, metadata } = row as { entityId: string; addedAt: number; metadata: string };
  return { entityId, addedAt, metadata: JSON.parse(metadata) as EntityRecord['metadata'] };
}
