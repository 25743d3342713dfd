import type { EventEnvelope } from '@kith/contracts';
import { outboxFields } from '@kith/service';
import type { Collection } from 'mongodb';
import type { CollectionRecord, Owner } from '../collection.ts';
import { type CollectionDocument, there, toDocument } from './mongo-document.ts';

/** Far longer than anyone waits for a collection to be made. */
const unconfirmedMs = 60_000;
/** So many are looked at in a sweep, oldest first. */
const sweptAtOnce = 1_000;

/** What holds between a collection and those above it, on MongoDB: no write spans two of them. */
export class MongoTree {
  readonly #collections: Collection<CollectionDocument>;
  /** What the last sweep found unconfirmed, and since when sweeps have, on the process's own clock. */
  #unconfirmed = new Map<string, number>();

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

  /**
   * Takes away what never came to count, because its maker died. How long that has been is told by this process's own clock:
   * by that of a machine ten minutes ahead, what is being made now is old.
   */
  async sweep(): Promise<void> {
    const now = performance.now();
    const found = await this.#collections
      .find({ unconfirmedAt: { $gt: new Date(0) } }, { projection: { unconfirmedAt: 1 } })
      .sort({ unconfirmedAt: 1 })
      .limit(sweptAtOnce)
      .toArray();
    const before = this.#unconfirmed;
    this.#unconfirmed = new Map();
    for (const { _id, unconfirmedAt = new Date(0) } of found) {
      // A place can be taken anew meanwhile.
      const key = `${unconfirmedAt.getTime()} ${_id}`;
      const since = before.get(key) ?? now;
      if (now - since < unconfirmedMs) this.#unconfirmed.set(key, since);
      else await this.#collections.deleteOne({ _id, unconfirmedAt });
    }
  }
}
