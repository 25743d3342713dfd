import type { EventEnvelope } from '@kith/contracts';
import {
  type MongoOutbox,
  notGone,
  outboxLimit,
  type Settler,
  type TargetFields,
  withContent,
} from '@kith/service';
import type { Collection, Db } from 'mongodb';
import type { CollectionRecord, Owner } from '../collection.ts';
import type { EntityChange, EntityRecord } from '../entity.ts';
import { entityPlace, entityRange, savedKey } from './entity-place.ts';
import type { EntityRange } from './index.ts';
import {
  type CollectionDocument,
  collectionsName,
  type EntityDocument,
  entitiesName,
} from './mongo-document.ts';
import { placeOf } from './place.ts';

/** Far longer than a writer trusts its plan: by then none can bring back a row that was erased. */
const goneForMs = 10 * 60_000;
/** Above any `rev` of a collection. */
const lastRev = Number.MAX_SAFE_INTEGER;
/** Any time, as a range: some servers use a partial index for nothing less. */
const ever = { $gt: new Date(0) };

/**
 * What is saved in collections, on MongoDB. A collection's document is the truth: its `rev`, count and event go up
 * in one write, and the entity's row follows by the settler (docs/adr/0005).
 */
export class MongoEntities {
  readonly #collections: Collection<CollectionDocument>;
  readonly #entities: Collection<EntityDocument>;
  readonly #settler: Settler;
  readonly #outbox: MongoOutbox;
  /** What has to be seen to before an entity of a collection that was read is looked for or changed. */
  readonly #read = new WeakMap<CollectionRecord, { target: TargetFields; events: number }>();

  constructor(db: Db, parts: { settler: Settler; outbox: MongoOutbox }) {
    this.#collections = db.collection(collectionsName);
    this.#entities = db.collection(entitiesName);
    this.#settler = parts.settler;
    this.#outbox = parts.outbox;
  }

  /** Keeps with a record what its document was found to have left open. */
  remember(record: CollectionRecord, document: CollectionDocument): void {
    this.#read.set(record, { target: document, events: document.outbox?.length ?? 0 });
  }

  async find(collection: CollectionRecord, entityId: string): Promise<EntityRecord | null> {
    await this.#settle(collection);
    const found = await this.#entities.findOne({
      saved: savedKey(collection, entityId),
      collectionId: collection.id,
      ...notGone,
    });
    return found && toEntity(found);
  }

  async change(
    before: CollectionRecord,
    after: CollectionRecord,
    { kind, entity }: EntityChange,
    event: EventEnvelope,
  ): Promise<boolean> {
    await this.#settle(before);
    const id = placeOf(before);
    await this.#makeRoom(before, id);
    const { entityCount, updatedAt, seq } = after;
    const put = kind === 'add' ? toRow(before, entity) : null;
    return this.#settler.change({
      target: { in: collectionsName, id, rev: before.rev },
      set: { entityCount, updatedAt: new Date(updatedAt), seq },
      events: [event],
      rows: [{ in: entitiesName, id: entityPlace(before, entity), put }],
      counters: [],
    });
  }

  async list(collection: CollectionRecord, range: EntityRange): Promise<EntityRecord[]> {
    await this.#settle(collection);
    const { from, limit, newestFirst } = range;
    const keys = entityRange(collection);
    const edge = 'after' in from ? keys.from + from.after : undefined;
    const between = newestFirst
      ? { $gt: keys.from, $lt: edge ?? keys.to }
      : { $gt: edge ?? keys.from, $lt: keys.to };
    const rows = await this.#entities
      .find(
        { _id: between, ...withContent('collectionId') },
        // All rows in one answer: a server gives 101 of its own accord.
        {
          sort: { _id: newestFirst ? -1 : 1 },
          skip: 'skip' in from ? from.skip : 0,
          limit,
          batchSize: limit,
        },
      )
      .toArray();
    return rows.map(toEntity);
  }

  /** The ids of an owner's collections that hold an entity, deleted ones too. */
  async homes(owner: Owner, entityId: string): Promise<string[]> {
    const saved = savedKey(owner, entityId);
    // A change whose process died counts from its commit on, though its row may still be missing.
    const { projectId, userId } = owner;
    const open = await this.#collections
      .find({ unsettledAt: ever, projectId, userId }, { projection: { unsettled: 1, rev: 1 } })
      .toArray();
    await Promise.all(open.map((target) => this.#settler.settleTarget(collectionsName, target)));
    const rows = await this.#entities
      .find({ saved, ...notGone }, { projection: { collectionId: 1 } })
      .toArray();
    return rows.map(({ collectionId }) => collectionId);
  }

  /** Takes away at most `limit` rows of a deleted collection, and tells how many. */
  async erase(collection: Pick<CollectionRecord, 'projectId' | 'id'>, limit: number): Promise<number> {
    const { from, to } = entityRange(collection);
    const rows = await this.#entities
      .find({ _id: { $gt: from, $lt: to }, ...notGone }, { projection: { _id: 1 }, limit })
      .toArray();
    if (rows.length === 0) return 0;
    await this.#entities.updateMany(
      { _id: { $in: rows.map(({ _id }) => _id) } },
      {
        $set: { gone: true, expireAt: new Date(Date.now() + goneForMs), rev: lastRev },
        $unset: { saved: '', collectionId: '', entityId: '', addedAt: '', metadata: '' },
      },
    );
    return rows.length;
  }

  async #settle(collection: CollectionRecord): Promise<void> {
    const read = this.#read.get(collection);
    if (!read) throw new TypeError('Entities need a collection as the store gave it.');
    await this.#settler.settleTarget(collectionsName, read.target);
  }

  async #makeRoom(collection: CollectionRecord, id: string): Promise<void> {
    if ((this.#read.get(collection)?.events ?? 0) < outboxLimit) return;
    const document = await this.#collections.findOne({ _id: id }, { projection: { outbox: 1 } });
    if (document) await this.#outbox.makeRoom(collectionsName, document);
  }
}

/** What is written of an entity. */
export function toRow(
  collection: CollectionRecord,
  entity: EntityRecord,
): Omit<EntityDocument, '_id' | 'rev'> {
  const { entityId, addedAt, metadata } = entity;
  return {
    saved: savedKey(collection, entityId),
    collectionId: collection.id,
    entityId,
    addedAt: new Date(addedAt),
    metadata: JSON.stringify(metadata),
  };
}

/** The entity of a row. */
export function toEntity({ entityId, addedAt, metadata }: EntityDocument): EntityRecord {
  return { entityId, addedAt: addedAt.getTime(), metadata: JSON.parse(metadata) as EntityRecord['metadata'] };
}
