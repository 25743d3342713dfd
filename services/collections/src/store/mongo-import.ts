import { randomUUID } from 'node:crypto';
import {
  changeAll,
  despiteDeadlocks,
  failedWrites,
  type ManyChange,
  notGone,
  type Settler,
} from '@kith/service';
import type { Collection, Db, Filter } from 'mongodb';
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
  isThere,
  there,
  toDocument,
} from './mongo-document.ts';
import { toEntity, toRow } from './mongo-entities.ts';
import { placeOf, rootPlace } from './place.ts';

/** Owners whose collections one question is of. */
const someOwners = 50;
/** Times that collections may be given up to end a deadlock, or be met half made by others. */
const attempts = 10;

type Inserted = 'stored' | 'deleted' | CollectionRecord;

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
    let found = await read();
    const known = new Set(found.map((document) => document._id));
    const missing = owners.filter((owner) => !known.has(rootPlace(owner)));
    if (missing.length > 0) {
      await failedWrites(
        this.#collections,
        missing.map((owner) =>
          toDocument(importedRecord(owner, { id: randomUUID(), name: 'root', parent: null, at })),
        ),
      );
      found = await read();
    }
    const roots = found.filter(({ purgeDepth }) => purgeDepth === undefined);
    return new Map(roots.map((document) => [document.userId, fromDocument(document)]));
  }

  async find(of: readonly (Owner & { id: string })[]): Promise<Map<string, CollectionRecord>> {
    return this.#wholeOf(await this.#documentsOf(of, there));
  }

  async insert(records: readonly CollectionRecord[]): Promise<Inserted[]> {
    const outcomes = new Map<CollectionRecord, Inserted>();
    let left = records;
    for (let attempt = 0; left.length > 0; attempt++) {
      if (attempt === attempts)
        throw new Error(`Collections were refused ${attempts} times and are not there.`);
      left = await this.#insertSome(left, outcomes);
    }
    return records.map((record) => outcomes.get(record) ?? 'deleted');
  }

  /** Notes what became of collections; gives those that are to be tried again. */
  async #insertSome(
    records: readonly CollectionRecord[],
    outcomes: Map<CollectionRecord, Inserted>,
  ): Promise<CollectionRecord[]> {
    const unconfirmedAt = new Date();
    const failed = new Set(
      await failedWrites(
        this.#collections,
        records.map((record) => ({ ...toDocument(record), unconfirmedAt })),
      ),
    );
    // What a process that died has left here counts as made: it would have gone the same way.
    for (const _id of await this.#halfMade([...failed])) failed.delete(_id);
    const refused = records.filter((record) => failed.has(placeOf(record)));
    const again = await this.#noteRefused(refused, outcomes);
    const made = records.filter((record) => !failed.has(placeOf(record)));
    const { counted, alone } = await this.#confirm(made);
    const missing = new Set(again.map(({ id }) => id));
    for (const record of made) {
      if (counted.has(placeOf(record))) outcomes.set(record, 'stored');
      // Below one that is to be tried again itself; or taken back by another that had taken it over.
      else if (!alone.has(record) || record.ancestors.some((id) => missing.has(id))) again.push(record);
      else outcomes.set(record, 'deleted');
    }
    return again;
  }

  async #halfMade(places: readonly string[]): Promise<string[]> {
    if (places.length === 0) return [];
    const left = this.#collections.find(
      { _id: { $in: [...places] }, unconfirmedAt: { $exists: true } },
      { projection: { _id: 1 } },
    );
    return (await left.toArray()).map(({ _id }) => _id);
  }

  /**
   * A refused one is there, or deleted by itself or with one above it. Else it was given up, or others are still at it, with
   * it or with one above it: to be tried again.
   */
  async #noteRefused(
    refused: readonly CollectionRecord[],
    outcomes: Map<CollectionRecord, Inserted>,
  ): Promise<CollectionRecord[]> {
    if (refused.length === 0) return [];
    const known = await this.#documentsOf(refused, {});
    const whole = await this.#wholeOf(known.filter(isThere));
    const above = known.flatMap(({ projectId, userId, ancestors }) =>
      ancestors.map((id) => ({ projectId, userId, id })),
    );
    const isPurged = { purgeDepth: { $exists: true } };
    const purged = new Set((await this.#documentsOf(above, isPurged)).map(({ id }) => id));
    const deleted = new Set(
      known
        .filter((one) => one.purgeDepth !== undefined || one.ancestors.some((id) => purged.has(id)))
        .map(({ id }) => id),
    );
    for (const record of refused) {
      const there = whole.get(record.id) ?? (deleted.has(record.id) ? 'deleted' : undefined);
      if (there) outcomes.set(record, there);
    }
    return refused.filter((record) => !outcomes.has(record));
  }

  /**
   * Lets those count above which all are there now, and takes the others back. Gives the places of those that count, and
   * those above which something is missing.
   */
  async #confirm(made: readonly CollectionRecord[]) {
    const own = new Set(made.map(({ id }) => id));
    const above = await this.#documentsOf(
      made.flatMap(({ projectId, userId, ancestors }) =>
        ancestors.filter((id) => !own.has(id)).map((id) => ({ projectId, userId, id })),
      ),
      there,
    );
    // As one that is made alone: it counts only once all above it were seen after it was stored.
    const ids = new Set([...own, ...above.map(({ id }) => id)]);
    const alone = new Set(made.filter(({ ancestors }) => !ancestors.every((id) => ids.has(id))));
    const below = made.filter((record) => !alone.has(record)).map(placeOf);
    if (below.length > 0) {
      const { matchedCount } = await despiteDeadlocks(() =>
        this.#collections.updateMany(
          { _id: { $in: below }, purgeDepth: { $exists: false } },
          { $unset: { unconfirmedAt: '' } },
        ),
      );
      if (matchedCount === made.length) return { counted: new Set(below), alone };
    }
    const places = { $in: made.map(placeOf) };
    await despiteDeadlocks(() =>
      this.#collections.deleteMany({ _id: places, unconfirmedAt: { $exists: true } }),
    );
    const stored = this.#collections.find({ _id: places, ...there }, { projection: { _id: 1 } });
    return { counted: new Set((await stored.toArray()).map(({ _id }) => _id)), alone };
  }

  async save(batches: readonly EntityBatch[]): Promise<(EntityRecord[] | null)[]> {
    const keys = batches.flatMap(({ collection, entities }) =>
      entities.map(({ entityId }) => savedKey(collection, entityId)),
    );
    const rows = await this.#entities.find({ saved: { $in: keys }, ...notGone }).toArray();
    const saved = new Map(rows.map((row) => [`${row.collectionId}|${row.entityId}`, toEntity(row)]));
    const outcomes: (EntityRecord[] | null)[] = [];
    const changes: { at: number; change: ManyChange }[] = [];
    for (const [at, { collection, entities }] of batches.entries()) {
      const there = entities.map(({ entityId }) => saved.get(`${collection.id}|${entityId}`));
      const added = entities.filter((_, index) => !there[index]);
      outcomes.push(there.filter((entity) => entity !== undefined));
      if (added.length > 0) changes.push({ at, change: savingOf(collection, added) });
    }
    const made = await changeAll(
      this.#db,
      this.#settler,
      changes.map(({ change }) => change),
    );
    for (const [index, { at }] of changes.entries()) if (!made[index]) outcomes[at] = null;
    return outcomes;
  }

  /** The records of those above which all are there, settled. */
  async #wholeOf(found: readonly CollectionDocument[]): Promise<Map<string, CollectionRecord>> {
    const ids = new Set(found.map(({ id }) => id));
    const above = found.flatMap(({ projectId, userId, ancestors }) =>
      ancestors.filter((id) => !ids.has(id)).map((id) => ({ projectId, userId, id })),
    );
    for (const { id } of await this.#documentsOf(above, there)) ids.add(id);
    const whole = found.filter(({ ancestors }) => ancestors.every((id) => ids.has(id)));
    await Promise.all(whole.map((one) => this.#settler.settleTarget(collectionsName, one)));
    return new Map(whole.map((document) => [document.id, fromDocument(document)]));
  }

  /** An owner's of these ids. Owner by owner: the ids of each are a range of the index. */
  async #documentsOf(
    of: readonly (Owner & { id: string })[],
    filter: Filter<CollectionDocument>,
  ): Promise<CollectionDocument[]> {
    const owners = [...Map.groupBy(of, ({ projectId, userId }) => `${projectId}|${userId}`).values()];
    const found: CollectionDocument[] = [];
    for (let at = 0; at < owners.length; at += someOwners) {
      const $or = owners.slice(at, at + someOwners).map((own) => {
        const { projectId, userId } = own[0]!;
        return { projectId, userId, id: { $in: [...new Set(own.map(({ id }) => id))] } };
      });
      const some = this.#collections.find({ $or, ...filter }, { projection: { outbox: 0 } });
      found.push(...(await some.toArray()));
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
