import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { bulkTransaction } from '@kith/service';
import type { CollectionRecord, Owner } from '../collection.ts';
import type { EntityRecord } from '../entity.ts';
import { importedRecord, withSaved } from '../imported.ts';
import type { EntityBatch, ImportStore } from './import.ts';
import type { SqliteEntities } from './sqlite-entities.ts';

/** Collections row by row, inside a transaction. */
interface Tree {
  root(owner: Owner): CollectionRecord | null;
  find(owner: Owner, id: string): CollectionRecord | null;
  /** `false` where it is there, or one above it is not. */
  insert(record: CollectionRecord): boolean;
  replace(rev: number, record: CollectionRecord): boolean;
}

/** Brings collections in on SQLite: a batch is one transaction. */
export class SqliteImport implements ImportStore {
  readonly #db: DatabaseSync;
  readonly #tree: Tree;
  readonly #entities: SqliteEntities;

  constructor(db: DatabaseSync, parts: { tree: Tree; entities: SqliteEntities }) {
    this.#db = db;
    this.#tree = parts.tree;
    this.#entities = parts.entities;
  }

  async roots(owners: readonly Owner[], at: number): Promise<Map<string, CollectionRecord>> {
    return bulkTransaction(this.#db, () => {
      const roots = new Map<string, CollectionRecord>();
      for (const owner of owners) {
        const made = importedRecord(owner, { id: randomUUID(), name: 'root', parent: null, at });
        const root = this.#tree.root(owner) ?? (this.#tree.insert(made) ? made : null);
        if (root) roots.set(owner.userId, root);
      }
      return roots;
    });
  }

  async find(of: readonly (Owner & { id: string })[]): Promise<Map<string, CollectionRecord>> {
    const found = of.flatMap((one) => this.#tree.find(one, one.id) ?? []);
    return new Map(found.map((record) => [record.id, record]));
  }

  async insert(records: readonly CollectionRecord[]): Promise<('stored' | 'deleted' | CollectionRecord)[]> {
    return bulkTransaction(this.#db, () =>
      records.map((record) => {
        if (this.#tree.insert(record)) return 'stored';
        return this.#tree.find(record, record.id) ?? 'deleted';
      }),
    );
  }

  async save(batches: readonly EntityBatch[]): Promise<(EntityRecord[] | null)[]> {
    return bulkTransaction(this.#db, () => batches.map((batch) => this.#save(batch)));
  }

  #save({ collection, entities }: EntityBatch): EntityRecord[] | null {
    const saved = entities.map(({ entityId }) => this.#entities.find(collection, entityId));
    const added = entities.filter((_, at) => !saved[at]);
    if (added.length > 0) {
      if (!this.#tree.replace(collection.rev, withSaved(collection, added))) return null;
      for (const entity of added) this.#entities.write(collection, { kind: 'add', entity });
    }
    return saved.filter((entity) => entity !== null);
  }
}
