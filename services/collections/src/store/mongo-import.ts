import { randomUUID } from 'node:crypto';
import { changeAll, failedWrites, type ManyChange, type Settler } from '@kith/service';
import type { Collection, Db } from 'mongodb';
import type { CollectionRecord, Owner } from '../collection.ts';
import type { EntityRecord } from '../entity.ts';
import { importedRecord, withSaved } from '../imported.ts';
import { entityPlace, savedKey } from './entity-place.ts';
import type { EntityBatch, ImportStore } from './import.ts';
import {
  type CollectionDocument,
  collectionsName,
  type EntityDocument,
  entitiesName,
  fromDocument,
  there,
  toDocument,
} from './mongo-document.ts';
import { toRow } from './mongo-entities.ts';
import { placeOf, rootPlace } from './place.ts';

/** Owners whose collections are asked for at once. */
const atOnce = 20;

/** Brings collections in on MongoDB: each step is one write for a whole batch. */
export class MongoImport implements ImportStore {
  readonly #db: Db;
  readonly #settler: Settler;
  readonly #collections: Collection<CollectionDocument>;
  readonly #entities: Collection<EntityDocument>;

  constructor(db: Db, settler: Settler) {
    this.#db = db;
    this.#settler = settler;
    this.#collections = db.collection(collectionsName);
    this.#entities = db.collection(entitiesName);
  }

  async roots(owners: readonly Owner[], at: number): Promise<Map<string, CollectionRecord>> {
    if (owners.length === 0) return new Map();
    const _id = { $in: owners.map(rootPlace) };
    const read = () => this.#collections.find({ _id }).toArray();
    const known = new Set((await read()).map((document) => document._id));
    const missing = owners.filter((owner) => !known.has(rootPlace(owner)));
    await failedWrites(
      this.#collections,
      missing.map((owner) =>
        toDocument(importedRecord(owner, { id: randomUUID(), name: 'root', parent: null, at })),
      ),
    );
    const roots = (await read()).filter(({ purgeDepth }) => purgeDepth === undefined);
    return new Map(roots.map((document) => [document.userId, fromDocument(document)]));
  }

  async find(of: readonly (Owner & { id: string })[]): Promise<Map<string, CollectionRecord>> {
    const found = await this.#thereOf(of);
    const above = await this.#thereOf(
      found.flatMap(({ projectId, userId, ancestors }) => ancestors.map((id) => ({ projectId, userId, id }))),
    );
    const ids = new Set(above.map(({ id }) => id));
    const whole = found.filter(({ ancestors }) => ancestors.every((id) => ids.has(id)));
    await Promise.all(whole.map((one) => this.#settler.settleTarget(collectionsName, one)));
    return new Map(whole.map((document) => [document.id, fromDocument(document)]));
  }

  async insert(records: readonly CollectionRecord[]): Promise<boolean[]> {
    if (records.length === 0) return [];
    const places = { _id: { $in: records.map(placeOf) } };
    const unconfirmedAt = new Date();
    const failed = new Set(
      await failedWrites(
        this.#collections,
        records.map((record) => ({ ...toDocument(record), unconfirmedAt })),
      ),
    );
    // What a process that died has left here counts as made: it would have gone the same way.
    const left = await this.#collections
      .find({ _id: { $in: [...failed] }, unconfirmedAt: { $exists: true } }, { projection: { _id: 1 } })
      .toArray();
    for (const { _id } of left) failed.delete(_id);
    // As one that is made alone: it counts only once all above it were seen after it was stored.
    const made = records.filter((record) => !failed.has(placeOf(record)));
    const own = new Set(made.map(({ id }) => id));
    const above = await this.#thereOf(
      made.flatMap(({ projectId, userId, ancestors }) =>
        ancestors.filter((id) => !own.has(id)).map((id) => ({ projectId, userId, id })),
      ),
    );
    const ids = new Set([...own, ...above.map(({ id }) => id)]);
    const confirmed = made.filter(({ ancestors }) => ancestors.every((id) => ids.has(id)));
    await this.#collections.updateMany(
      { _id: { $in: confirmed.map(placeOf) }, purgeDepth: { $exists: false } },
      { $unset: { unconfirmedAt: '' } },
    );
    await this.#collections.deleteMany({
      _id: { $in: made.map(placeOf) },
      unconfirmedAt: { $exists: true },
    });
    const stored = await this.#collections
      .find({ ...places, ...there }, { projection: { _id: 1 } })
      .toArray();
    const theirs = new Set(stored.map(({ _id }) => _id));
    return records.map((record) => theirs.has(placeOf(record)));
  }

  async save(batches: readonly EntityBatch[]): Promise<(number | null)[]> {
    const keys = batches.flatMap(({ collection, entities }) =>
      entities.map(({ entityId }) => savedKey(collection, entityId)),
    );
    const rows = await this.#entities
      .find({ saved: { $in: keys } }, { projection: { collectionId: 1, entityId: 1 } })
      .toArray();
    const saved = new Set(rows.map(({ collectionId, entityId }) => `${collectionId}|${entityId}`));
    const changes: { at: number; added: number; change: ManyChange }[] = [];
    for (const [at, { collection, entities }] of batches.entries()) {
      const added = entities.filter(({ entityId }) => !saved.has(`${collection.id}|${entityId}`));
      if (added.length === 0) continue;
      changes.push({ at, added: added.length, change: savingOf(collection, added) });
    }
    const made = await changeAll(
      this.#db,
      this.#settler,
      changes.map(({ change }) => change),
    );
    const counts: (number | null)[] = batches.map(() => 0);
    for (const [index, { at, added }] of changes.entries()) counts[at] = made[index] ? added : null;
    return counts;
  }

  /** Collections that are there as far as they themselves know. An owner at a time: its ids are a range of the index. */
  async #thereOf(of: readonly (Owner & { id: string })[]): Promise<CollectionDocument[]> {
    const owners = [...Map.groupBy(of, ({ projectId, userId }) => `${projectId}|${userId}`).values()];
    const found: CollectionDocument[] = [];
    for (let at = 0; at < owners.length; at += atOnce) {
      const some = await Promise.all(
        owners.slice(at, at + atOnce).map((own) => {
          const { projectId, userId } = own[0]!;
          const id = { $in: [...new Set(own.map((one) => one.id))] };
          return this.#collections
            .find({ projectId, userId, id, ...there }, { projection: { outbox: 0 } })
            .toArray();
        }),
      );
      found.push(...some.flat());
    }
    return found;
  }
}

function savingOf(collection: CollectionRecord, added: readonly EntityRecord[]): ManyChange {
  const { entityCount, updatedAt } = withSaved(collection, added);
  return {
    target: { in: collectionsName, id: placeOf(collection), rev: collection.rev },
    set: { entityCount, updatedAt: new Date(updatedAt) },
    rows: added.map((entity) => ({
      in: entitiesName,
      id: entityPlace(collection, entity),
      put: toRow(collection, entity),
    })),
    counters: [],
  };
}
