import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { EventEnvelope } from '@kith/contracts';
import { isSqliteDuplicate, openSqlite, SqliteOutbox, type StoreConfig, transaction } from '@kith/service';
import type { CollectionRecord, Owner } from '../collection.ts';
import type { EntityChange, EntityRecord } from '../entity.ts';
import type { CollectionStore, EntityRange, ErasedStore } from './index.ts';
import { listRange, ownerRange, placeInTree, placeOf, rootPlace } from './place.ts';
import { SqliteEntities } from './sqlite-entities.ts';
import { sqliteErased } from './sqlite-erased.ts';
import { SqliteImport } from './sqlite-import.ts';
import { SqlitePurge } from './sqlite-purge.ts';
import { migrations } from './sqlite-schema.ts';

const columns = `project_id AS projectId, user_id AS userId, id, parent_id AS parentId, ancestors, name,
  entity_count AS entityCount, created_at AS createdAt, updated_at AS updatedAt, rev, seq`;

type Row = Omit<CollectionRecord, 'ancestors'> & { ancestors: string };

/** Opens the store on SQLite. */
export async function openSqliteStore(
  config: Extract<StoreConfig, { kind: 'sqlite' }>,
): Promise<CollectionStore> {
  return new SqliteStore(openSqlite({ file: config.file, migrations, synchronous: config.synchronous }));
}

class SqliteStore implements CollectionStore {
  readonly outbox: SqliteOutbox;
  readonly erased: ErasedStore;
  readonly imports: SqliteImport;
  readonly #db: DatabaseSync;
  readonly #entities: SqliteEntities;
  readonly #purge: SqlitePurge;
  readonly #byPlace: StatementSync;
  readonly #byId: StatementSync;
  readonly #there: StatementSync;
  readonly #between: StatementSync;
  readonly #insert: StatementSync;
  readonly #update: StatementSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.outbox = new SqliteOutbox(db);
    this.erased = sqliteErased(db);
    this.#entities = new SqliteEntities(db);
    this.#purge = new SqlitePurge(db, this.#entities);
    const select = `SELECT ${columns} FROM collections WHERE purge_depth IS NULL AND`;
    this.#byPlace = db.prepare(`${select} place = ?`);
    this.#byId = db.prepare(`${select} project_id = ? AND user_id = ? AND id = ?`);
    this.#there = db.prepare(
      `SELECT count(*) AS n FROM collections WHERE purge_depth IS NULL AND project_id = ? AND user_id = ?
         AND id IN (SELECT value FROM json_each(?))`,
    );
    this.#between = db.prepare(`${select} place > ? AND place < ? ORDER BY place LIMIT ?`);
    this.#insert = db.prepare(
      `INSERT INTO collections (place, project_id, user_id, id, parent_id, ancestors, name, entity_count,
         created_at, updated_at, rev, seq) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.imports = new SqliteImport(db, {
      entities: this.#entities,
      tree: {
        root: (owner) => fromRow(this.#byPlace.get(rootPlace(owner))),
        find: (owner, id) => this.#find(owner, id),
        insert: (record) => this.#add(record),
        replace: (rev, record) => this.#replace(rev, record, null),
      },
    });
    this.#update = db.prepare(
      `UPDATE collections SET name = ?, entity_count = ?, updated_at = ?, rev = ?, seq = ?, purge_depth = ?
         WHERE place = ? AND rev = ? AND purge_depth IS NULL`,
    );
  }

  async root(owner: Owner): Promise<CollectionRecord | null> {
    return fromRow(this.#byPlace.get(rootPlace(owner)));
  }

  async find(owner: Owner, id: string): Promise<CollectionRecord | null> {
    return this.#find(owner, id);
  }

  #find(owner: Owner, id: string): CollectionRecord | null {
    const record = fromRow(this.#byId.get(owner.projectId, owner.userId, id));
    return record && this.#isThere(record) ? record : null;
  }

  async children(
    owner: Owner,
    parentId: string,
    range: { after: string | null; limit: number },
  ): Promise<CollectionRecord[] | null> {
    if (!this.#find(owner, parentId)) return null;
    const { from, to } = listRange(owner, parentId, range.after);
    return this.#between.all(from, to, range.limit).flatMap((row) => fromRow(row) ?? []);
  }

  async all(
    owner: Owner,
    { after, limit }: { after: string; limit: number },
  ): Promise<{ collections: CollectionRecord[]; next: string | null }> {
    const { from, to } = ownerRange(owner, after);
    const found = this.#between.all(from, to, limit).flatMap((row) => fromRow(row) ?? []);
    const last = found.length === limit ? found.at(-1) : undefined;
    return {
      collections: found.filter((record) => this.#isThere(record)),
      next: last ? placeInTree(last) : null,
    };
  }

  async insert(record: CollectionRecord, event: EventEnvelope): Promise<boolean> {
    return transaction(this.#db, () => {
      if (!this.#add(record)) return false;
      this.outbox.add(event);
      return true;
    });
  }

  async replace(rev: number, record: CollectionRecord, event: EventEnvelope): Promise<boolean> {
    return transaction(this.#db, () => this.#replace(rev, record, event));
  }

  async delete(rev: number, record: CollectionRecord, event: EventEnvelope): Promise<boolean> {
    return transaction(this.#db, () => this.#replace(rev, record, event, record.ancestors.length));
  }

  async entity(collection: CollectionRecord, entityId: string): Promise<EntityRecord | null> {
    return this.#entities.find(collection, entityId);
  }

  async changeEntity(
    before: CollectionRecord,
    after: CollectionRecord,
    change: EntityChange,
    event: EventEnvelope,
  ): Promise<boolean> {
    return transaction(this.#db, () => {
      if (!this.#replace(before.rev, after, event)) return false;
      this.#entities.write(before, change);
      return true;
    });
  }

  async entities(collection: CollectionRecord, range: EntityRange): Promise<EntityRecord[]> {
    return this.#entities.list(collection, range);
  }

  async withEntities(owner: Owner, id: string, range: EntityRange) {
    const collection = this.#find(owner, id);
    if (!collection) return null;
    const isPastEnd = 'skip' in range.from && range.from.skip >= collection.entityCount;
    return { collection, entities: isPastEnd ? [] : this.#entities.list(collection, range) };
  }

  async holding(owner: Owner, entityId: string): Promise<CollectionRecord[]> {
    const found: CollectionRecord[] = [];
    for (const id of this.#entities.homes(owner, entityId)) {
      const record = await this.find(owner, id);
      if (record) found.push(record);
    }
    return found;
  }

  async purge(): Promise<boolean> {
    return this.#purge.step();
  }

  /** Nothing is ever left behind: a change is one transaction. */
  async sweep(): Promise<void> {}

  async check(): Promise<void> {
    this.#db.prepare('SELECT 1').get();
  }

  async close(): Promise<void> {
    this.#db.close();
  }

  /** Stores a new collection; `false` where one above it is gone, or where it is there: a root of this owner, say. */
  #add(record: CollectionRecord): boolean {
    const { projectId, userId, id, parentId, name, entityCount, createdAt, updatedAt, rev, seq } = record;
    const ancestors = JSON.stringify(record.ancestors);
    const values = [id, parentId, ancestors, name, entityCount, createdAt, updatedAt, rev, seq];
    if (!this.#isThere(record)) return false;
    try {
      this.#insert.run(placeOf(record), projectId, userId, ...values);
      return true;
    } catch (error) {
      if (isSqliteDuplicate(error)) return false;
      throw error;
    }
  }

  /** Tells whether all above a collection are there. */
  #isThere({ projectId, userId, ancestors }: CollectionRecord): boolean {
    if (ancestors.length === 0) return true;
    const found = this.#there.get(projectId, userId, JSON.stringify(ancestors)) as { n: number };
    return found.n === ancestors.length;
  }

  #replace(
    rev: number,
    record: CollectionRecord,
    event: EventEnvelope | null,
    purgeDepth: number | null = null,
  ): boolean {
    const { name, entityCount, updatedAt, rev: next, seq } = record;
    const values = [name, entityCount, updatedAt, next, seq, purgeDepth];
    const { changes } = this.#update.run(...values, placeOf(record), rev);
    if (changes === 1 && event) this.outbox.add(event);
    return changes === 1;
  }
}

function fromRow(row: Record<string, unknown> | undefined): CollectionRecord | null {
  if (!row) return null;
  const { ancestors, ...rest } = row as unknown as Row;
  return { ...rest, ancestors: JSON.parse(ancestors) as string[] };
}
