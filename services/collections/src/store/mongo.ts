import type { EventEnvelope } from '@kith/contracts';
import {
  isMongoDuplicate,
  type MongoConnection,
  MongoOutbox,
  openMongo,
  outboxFields,
  outboxHasRoom,
  outboxUpdate,
  Settler,
  type StoreConfig,
} from '@kith/service';
import type { Collection } from 'mongodb';
import type { CollectionRecord, Owner } from '../collection.ts';
import type { EntityChange, EntityRecord } from '../entity.ts';
import type { CollectionStore, EntityRange, ErasedStore } from './index.ts';
import {
  type CollectionDocument,
  collectionsName,
  fromDocument,
  isThere,
  schema,
  there,
  toDocument,
} from './mongo-document.ts';
import { MongoEntities } from './mongo-entities.ts';
import { mongoErased } from './mongo-erased.ts';
import { MongoImport } from './mongo-import.ts';
import { MongoPurge } from './mongo-purge.ts';
import { MongoTree } from './mongo-tree.ts';
import { listRange, ownerRange, placeInTree, placeOf, rootPlace } from './place.ts';

/** Opens the store on MongoDB. */
export async function openMongoStore(
  config: Extract<StoreConfig, { kind: 'mongo' }>,
): Promise<CollectionStore> {
  return new MongoStore(await openMongo({ url: config.url, database: config.database, schema }));
}

class MongoStore implements CollectionStore {
  readonly outbox: MongoOutbox;
  readonly erased: ErasedStore;
  readonly imports: MongoImport;
  readonly #connection: MongoConnection;
  readonly #collections: Collection<CollectionDocument>;
  readonly #tree: MongoTree;
  readonly #settler: Settler;
  readonly #entities: MongoEntities;
  readonly #purge: MongoPurge;

  constructor(connection: MongoConnection) {
    const { db } = connection;
    this.#connection = connection;
    this.#collections = db.collection(collectionsName);
    this.outbox = new MongoOutbox(db, [collectionsName]);
    this.erased = mongoErased(db);
    this.#tree = new MongoTree(this.#collections);
    this.#settler = new Settler(db);
    this.imports = new MongoImport(db, this.#settler);
    this.#entities = new MongoEntities(db, { settler: this.#settler, outbox: this.outbox });
    this.#purge = new MongoPurge(db, { settler: this.#settler, entities: this.#entities });
  }

  async root(owner: Owner): Promise<CollectionRecord | null> {
    const document = await this.#collections.findOne({ _id: rootPlace(owner) });
    return document && isThere(document) ? fromDocument(document) : null;
  }

  async find(owner: Owner, id: string): Promise<CollectionRecord | null> {
    return (await this.#findWith(owner, id, async () => undefined))?.collection ?? null;
  }

  async children(
    owner: Owner,
    parentId: string,
    range: { after: string | null; limit: number },
  ): Promise<CollectionRecord[] | null> {
    const { from, to } = listRange(owner, parentId, range.after);
    const { limit } = range;
    const read = () =>
      this.#collections
        .find(
          { _id: { $gt: from, $lt: to }, ...there },
          // All rows in one answer: a server gives 101 of its own accord.
          { sort: { _id: 1 }, limit, batchSize: limit, projection: { outbox: 0 } },
        )
        .toArray();
    return (await this.#findWith(owner, parentId, read))?.more.map(fromDocument) ?? null;
  }

  async all(
    owner: Owner,
    { after, limit }: { after: string; limit: number },
  ): Promise<{ collections: CollectionRecord[]; next: string | null }> {
    const { from, to } = ownerRange(owner, after);
    const found = await this.#collections
      .find(
        { _id: { $gt: from, $lt: to }, ...there },
        { sort: { _id: 1 }, limit, projection: { 'outbox.event': 0 } },
      )
      .toArray();
    const last = found.length === limit ? found.at(-1) : undefined;
    return {
      collections: (await this.#belowThere(owner, found)).map((one) => this.#withEntities(one)),
      next: last ? placeInTree(fromDocument(last)) : null,
    };
  }

  async insert(record: CollectionRecord, event: EventEnvelope): Promise<boolean> {
    if (record.parentId !== null) return this.#tree.insertBelow(record, event);
    try {
      await this.#collections.insertOne({ ...toDocument(record), ...outboxFields([event]) });
      return true;
    } catch (error) {
      if (isMongoDuplicate(error)) return false;
      throw error;
    }
  }

  async replace(rev: number, record: CollectionRecord, event: EventEnvelope): Promise<boolean> {
    const { name, updatedAt, seq } = toDocument(record);
    return this.#update(rev, record, { name, updatedAt, seq }, event);
  }

  async delete(rev: number, record: CollectionRecord, event: EventEnvelope): Promise<boolean> {
    const { updatedAt, seq, ancestors } = toDocument(record);
    return this.#update(rev, record, { updatedAt, seq, purgeDepth: ancestors.length }, event);
  }

  entity(collection: CollectionRecord, entityId: string): Promise<EntityRecord | null> {
    return this.#entities.find(collection, entityId);
  }

  changeEntity(
    before: CollectionRecord,
    after: CollectionRecord,
    change: EntityChange,
    event: EventEnvelope,
  ): Promise<boolean> {
    return this.#entities.change(before, after, change, event);
  }

  entities(collection: CollectionRecord, range: EntityRange): Promise<EntityRecord[]> {
    return this.#entities.list(collection, range);
  }

  async withEntities(owner: Owner, id: string, range: EntityRange) {
    const read = async (collection: CollectionRecord) => {
      const isPastEnd = 'skip' in range.from && range.from.skip >= collection.entityCount;
      return isPastEnd ? [] : this.entities(collection, range);
    };
    const found = await this.#findWith(owner, id, read);
    return found && { collection: found.collection, entities: found.more };
  }

  async holding(owner: Owner, entityId: string): Promise<CollectionRecord[]> {
    const ids = await this.#entities.homes(owner, entityId);
    const { projectId, userId } = owner;
    const documents = await this.#collections
      .find({ projectId, userId, id: { $in: ids } }, { projection: { outbox: 0 } })
      .toArray();
    return (await this.#belowThere(owner, documents.filter(isThere))).map(fromDocument);
  }

  purge(): Promise<boolean> {
    return this.#purge.step();
  }

  async sweep(): Promise<void> {
    await this.#tree.sweep();
    await this.#settler.sweep({ targets: [collectionsName], counters: [] });
  }

  check(): Promise<void> {
    return this.#connection.check();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /**
   * Finds a collection, and reads something more of it while it is looked up whether all above it are there: with that two
   * round trips, too.
   */
  async #findWith<T>(
    owner: Owner,
    id: string,
    read: (collection: CollectionRecord) => Promise<T>,
  ): Promise<{ collection: CollectionRecord; more: T } | null> {
    const { projectId, userId } = owner;
    const document = await this.#collections.findOne(
      { projectId, userId, id },
      { projection: { 'outbox.event': 0 } },
    );
    if (!document || !isThere(document)) return null;
    const collection = this.#withEntities(document);
    const [areThere, more] = await Promise.all([
      this.#tree.areThere(owner, document.ancestors),
      read(collection),
    ]);
    return areThere ? { collection, more } : null;
  }

  /** Those of an owner's collections above which all are there. */
  async #belowThere(owner: Owner, documents: CollectionDocument[]): Promise<CollectionDocument[]> {
    const known = await this.#tree.thereOf(
      owner,
      documents.flatMap(({ ancestors }) => ancestors),
    );
    return documents.filter(({ ancestors }) => ancestors.every((id) => known.has(id)));
  }

  /** The record of a document, by which its entities can be asked for. */
  #withEntities(document: CollectionDocument): CollectionRecord {
    const record = fromDocument(document);
    this.#entities.remember(record, document);
    return record;
  }

  async #update(
    rev: number,
    record: CollectionRecord,
    set: Partial<CollectionDocument>,
    event: EventEnvelope,
  ): Promise<boolean> {
    const _id = placeOf(record);
    const { $push, $set } = outboxUpdate([event]);
    const { matchedCount } = await this.#collections.updateOne(
      { _id, rev, purgeDepth: { $exists: false }, ...outboxHasRoom },
      { $set: { ...$set, ...set, rev: record.rev }, $push },
    );
    if (matchedCount === 1) return true;
    const left = await this.#collections.findOne({ _id }, { projection: { outbox: 1 } });
    if (left) await this.outbox.makeRoom(collectionsName, left);
    return false;
  }
}
