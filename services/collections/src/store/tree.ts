import type { Documents, Range, Stored } from '@kith/store';
import type { CollectionRecord, Owner } from '../collection.ts';
import { collections, type StoredCollection } from './collections.ts';
import { rootPlace } from './place.ts';
import { recordOf } from './record.ts';

/**
 * If deleted collections leave a page incomplete, more documents are read. Each further read asks for at least this many
 * documents, because many deleted collections may follow each other in a list.
 */
const leastRead = 100;

/** Reads collections. A collection exists as long as neither the collection itself nor any collection above it is deleted. */
export class Tree {
  readonly #documents: Documents;
  readonly #read = new WeakMap<CollectionRecord, Stored<StoredCollection>>();

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** The document from which a record was made. Undefined if the record was not read from this store. */
  readOf(record: CollectionRecord): Stored<StoredCollection> | undefined {
    return this.#read.get(record);
  }

  async root(owner: Owner): Promise<CollectionRecord | null> {
    return (await this.roots([owner])).get(owner.userId) ?? null;
  }

  /** The roots of owners, by `userId`. */
  async roots(owners: readonly Owner[]): Promise<Map<string, CollectionRecord>> {
    const found = await this.#documents.get(collections, owners.map(rootPlace));
    const roots = this.#recordsOf([...found.values()]);
    return new Map(roots.map((root) => [root.userId, root]));
  }

  /**
   * Finds a collection. Then looks up the collections above it and, at the same time, calls `read` for other data. Returns null
   * if the collection does not exist.
   */
  async findWith<T>(
    owner: Owner,
    id: string,
    read: (collection: CollectionRecord) => Promise<T>,
  ): Promise<{ collection: CollectionRecord; more: T } | null> {
    const [collection] = await this.#own([{ ...owner, id }]);
    if (!collection) return null;
    const [whole, more] = await Promise.all([this.#whole([collection]), read(collection)]);
    return whole.length === 1 ? { collection, more } : null;
  }

  /** Checks which of the collections exist, and returns these by their ids. */
  async findAll(of: readonly (Owner & { id: string })[]): Promise<Map<string, CollectionRecord>> {
    const whole = await this.#whole(await this.#own(of));
    return new Map(whole.map((record) => [record.id, record]));
  }

  /** Returns at most `limit` collections of a parent's list. Does not check whether the parent exists. */
  async children(range: Range): Promise<CollectionRecord[]> {
    const children: CollectionRecord[] = [];
    for (let { above, limit } = range; ; limit = Math.max(range.limit - children.length, leastRead)) {
      const found = await this.#documents.range(collections, { ...range, above, limit });
      children.push(...this.#recordsOf(found));
      const last = found.at(-1);
      const isFull = children.length >= range.limit;
      if (!last || found.length < limit || isFull) return children.slice(0, range.limit);
      // Deleted collections stay in the list until they are purged. Here, some of the documents that were read are deleted
      // collections. So this method reads on to fill the page.
      above = last.id;
    }
  }

  /**
   * Reads at most `limit` documents of an owner and returns the collections that exist. If more may follow, `last` is the last
   * collection that was read.
   */
  async all(range: Range): Promise<{ there: CollectionRecord[]; last: CollectionRecord | undefined }> {
    const found = await this.#documents.range(collections, range);
    const last = found.length === range.limit ? found.at(-1) : undefined;
    return { there: await this.#whole(this.#recordsOf(found)), last: last && recordOf(last) };
  }

  async #own(of: readonly (Owner & { id: string })[]): Promise<CollectionRecord[]> {
    const owners = new Map(of.map((one) => [one.id, one]));
    const found = await this.#documents.by(collections, 'id', [...owners.keys()]);
    return this.#recordsOf([...found.values()].flat()).filter(({ id, projectId, userId }) => {
      const owner = owners.get(id);
      return projectId === owner?.projectId && userId === owner.userId;
    });
  }

  /** The records whose ancestors all exist. */
  async #whole(records: readonly CollectionRecord[]): Promise<CollectionRecord[]> {
    const known = new Set(records.map(({ id }) => id));
    const above = new Set(records.flatMap(({ ancestors }) => ancestors).filter((id) => !known.has(id)));
    const there = above.size > 0 ? await this.#documents.idsBy(collections, 'id', [...above]) : known;
    return records.filter(({ ancestors }) => ancestors.every((id) => known.has(id) || there.has(id)));
  }

  #recordsOf(found: readonly Stored<StoredCollection>[]): CollectionRecord[] {
    const there = found.filter(({ doc }) => !doc.deleted);
    return there.map((stored) => {
      const record = recordOf(stored);
      this.#read.set(record, stored);
      return record;
    });
  }
}
