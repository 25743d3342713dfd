import { randomUUID } from 'node:crypto';
import type { Documents } from '@kith/store';
import type { CollectionRecord, Owner } from '../collection.ts';
import type { EntityRecord } from '../entity.ts';
import { importedRecord, withSaved } from '../imported.ts';
import { collections, entities } from './collections.ts';
import type { Ended } from './ended.ts';
import { entityPlace, savedKey } from './entity-place.ts';
import { adding, deleting, entityOf, storedEntity, storedOf } from './record.ts';
import type { Tree } from './tree.ts';

/** Entities to save in a collection. `collection` is the record as it was read from the store. */
export interface EntityBatch {
  collection: CollectionRecord;
  /** Each entity is listed only once. */
  entities: readonly EntityRecord[];
}

/** Stores collections and entities of another backend. These writes make no events (docs/adr/0018). */
export class Imports {
  readonly #documents: Documents;
  readonly #tree: Tree;
  readonly #ended: Ended;

  constructor(documents: Documents, tree: Tree, ended: Ended) {
    this.#documents = documents;
    this.#tree = tree;
    this.#ended = ended;
  }

  /**
   * Returns the roots of owners, by `userId`. Makes the roots that are missing, except for owners who are being erased. A new
   * root gets the time `at` (Unix ms) of its owner.
   */
  async roots(owners: readonly (Owner & { at: number })[]): Promise<Map<string, CollectionRecord>> {
    if (owners.length === 0) return new Map();
    const found = await this.#tree.roots(owners);
    const missing = owners.filter(({ userId }) => !found.has(userId));
    if (missing.length === 0) return found;
    const made = missing.map(({ at, ...owner }) =>
      importedRecord(owner, { id: randomUUID(), name: 'root', parent: null, at }),
    );
    await this.#documents.change(made.map(adding));
    return this.#tree.roots(owners);
  }

  /** Checks which of the collections exist, and returns these by their ids. */
  find(of: readonly (Owner & { id: string })[]): Promise<Map<string, CollectionRecord>> {
    return this.#tree.findAll(of);
  }

  /**
   * Stores new collections. The parent of a collection must exist or come earlier in `records`. Returns the outcome for each
   * collection, in the same order. If a collection with the same id exists already, the outcome is this stored collection. If
   * the id belonged to a deleted collection, or a collection above is deleted, nothing is stored and the outcome is `deleted`.
   */
  async insert(records: readonly CollectionRecord[]): Promise<('stored' | 'deleted' | CollectionRecord)[]> {
    const ended = await this.#ended.among(records);
    const fresh = records.filter(({ id }) => !ended.has(id));
    const outcomes = await this.#documents.change(fresh.map(adding));
    const stored = new Set(fresh.filter((_, at) => outcomes[at] === 'made'));
    const refused = records.filter((record) => !stored.has(record));
    const there = refused.length > 0 ? await this.find(refused) : new Map<string, CollectionRecord>();
    // A collection may have been deleted after the first check. Its id then became free, and an imported collection may have
    // got this id. Such an imported collection is removed again.
    const late = await this.#ended.among([...stored]);
    if (late.size > 0) await this.#takeBack([...late]);
    const isGone = ({ id, ancestors }: CollectionRecord) => [id, ...ancestors].some((one) => late.has(one));
    return records.map((record) => {
      if (stored.has(record)) return isGone(record) ? 'deleted' : 'stored';
      return there.get(record.id) ?? 'deleted';
    });
  }

  /**
   * Saves the entities that are not saved yet. For each batch, returns the entities that were saved before, as they are
   * stored. If a collection has changed since it was read, the outcome of its batch is null.
   */
  async save(batches: readonly EntityBatch[]): Promise<(EntityRecord[] | null)[]> {
    const targets = batches.map(({ collection }) => this.#tree.readOf(collection));
    await Promise.all(targets.map((target) => target && this.#documents.settle(collections, target)));
    const keyed = batches.map(({ collection, entities: all }) =>
      all.map((entity) => ({ entity, key: savedKey(collection, entity.entityId) })),
    );
    const keys = keyed.flatMap((all) => all.map(({ key }) => key));
    const saved = await this.#documents.by(entities, 'saved', keys);
    const outcomes: (EntityRecord[] | null)[] = keyed.map((all) =>
      all.flatMap(({ key }) => (saved.get(key) ?? []).map(entityOf)),
    );
    const changes = batches.flatMap(({ collection }, at) => {
      const added = keyed[at]?.flatMap(({ entity, key }) => (saved.has(key) ? [] : [entity])) ?? [];
      const target = targets[at];
      if (!target) outcomes[at] = null;
      if (!target || added.length === 0) return [];
      const rows = added.map((entity) => ({
        ...{ in: entities, id: entityPlace(collection, entity), put: storedEntity(collection, entity) },
      }));
      return [{ at, change: { in: collections, target, set: storedOf(withSaved(collection, added)), rows } }];
    });
    const made = await this.#documents.change(changes.map(({ change }) => change));
    for (const [index, { at }] of changes.entries()) if (made[index] !== 'made') outcomes[at] = null;
    return outcomes;
  }

  /**
   * Deletes imported collections. Makes no events, because their import made none either. The purger erases everything below
   * them. Skips a collection that was changed after its import. Such a collection has events, so it is deleted only with an
   * event.
   */
  async #takeBack(ids: readonly string[]): Promise<void> {
    for (;;) {
      const found = [...(await this.#documents.by(collections, 'id', ids)).values()].flat();
      const left = found.filter(({ doc }) => doc.seq === 0);
      if (left.length === 0) return;
      await this.#documents.change(left.map(deleting));
    }
  }
}
