import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { transaction } from '@kith/service';
import type { CollectionRecord, Owner } from '../collection.ts';
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
    return transaction(this.#db, () => {
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

  async insert(records: readonly CollectionRecord[]): Promise<boolean[]> {
    return transaction(this.#db, () => records.map((record) => this.#tree.insert(record)));
  }

  async save(batches: readonly EntityBatch[]): Promise<(number | null)[]> {
    return transaction(this.#db, () => batches.map((batch) => this.#save(batch)));
  }

  #save({ collection, entities }: EntityBatch): number | null {
    const added = entities.filter(({ entityId }) => !this.#entities.find(collection, entityId));
    if (added.length === 0) return 0;
    if (!this.#tree.replace(collection.rev, withSaved(collection, added))) return null;
    for (const entity of added) this.#entities.write(collection, { kind: 'add', entity });
    return added.length;
  }
}
