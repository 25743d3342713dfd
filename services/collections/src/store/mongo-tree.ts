import type { EventEnvelope } from '@kith/contracts';
import { outboxFields } from '@kith/service';
import type { Collection } from 'mongodb';
import type { CollectionRecord, Owner } from '../collection.ts';
import { type CollectionDocument, there, toDocument } from './mongo-document.ts';

/** Far longer than anyone waits for a collection to be made. */
const unconfirmedMs = 60_000;

/** What holds between a collection and those above it, on MongoDB: no write spans two of them. */
export class MongoTree {
  readonly #collections: Collection<CollectionDocument>;

  constructor(collections: Collection<CollectionDocument>) {
    this.#collections = collections;
  }

  /** Tells whether all of an owner's collections of these ids, each named once, are there. */
  async areThere(owner: Owner, ids: readonly string[]): Promise<boolean> {
    return (await this.thereOf(owner, ids)).size === ids.length;
  }

  /** Those of an owner's collections that are there as far as they themselves know; one gone for good is not. */
  async thereOf({ projectId, userId }: Owner, ids: readonly string[]): Promise<Set<string>> {
    if (ids.length === 0) return new Set();
    const found = await this.#collections
      .find(
        { projectId, userId, id: { $in: [...new Set(ids)] }, ...there },
        { projection: { _id: 0, id: 1 } },
      )
      .toArray();
    return new Set(found.map(({ id }) => id));
  }

  /**
   * Stores a collection, looks again whether all above it are there, and only then lets it count. A delete that
   * commits before that look is seen by it; one that commits later finds the document when it purges.
   */
  async insertBelow(record: CollectionRecord, event: EventEnvelope): Promise<boolean> {
    const document = toDocument(record);
    const { _id, rev } = document;
    await this.#collections.insertOne({ ...document, unconfirmedAt: new Date() });
    if (await this.areThere(record, record.ancestors)) {
      const { matchedCount } = await this.#collections.updateOne(
        { _id, rev, purgeDepth: { $exists: false } },
        { $set: { ...outboxFields([event]) }, $unset: { unconfirmedAt: '' } },
      );
      if (matchedCount === 1) return true;
    }
    await this.#collections.deleteOne({ _id, unconfirmedAt: { $exists: true } });
    return false;
  }

  /** Takes away what never came to count, because its maker died. */
  async sweep(): Promise<void> {
    const old = { $gt: new Date(0), $lt: new Date(Date.now() - unconfirmedMs) };
    await this.#collections.deleteMany({ unconfirmedAt: old });
  }
}
