import { type RowFields, withContent } from '@kith/service';
import type { Collection, Db, Filter, IndexDescription } from 'mongodb';
import type { Entry, Owner } from '../feed.ts';
import { endOf, expiryBatch, placeOf } from './place.ts';

/** An entry as it is stored; `_id` is its place. */
export type EntryDocument = Omit<Entry, 'createdAt' | 'keepUntil' | 'readAt'> &
  RowFields & {
    createdAt: Date;
    keepUntil: Date;
    readAt: Date | null;
    /** The connection's id, on the notification of a request alone. */
    requestOf?: string;
  };

// Partial: FerretDB plans a plain index on such fields as a walk over all ids.
const partial = (field: string): IndexDescription => ({
  name: field,
  key: { [field]: 1 },
  partialFilterExpression: { [field]: { $exists: true } },
});
/** Indexes of the entries: by id, by the request they are of, by when they go, by whom they tell of. */
export const entryIndexes: readonly IndexDescription[] = [
  'id',
  'requestOf',
  'keepUntil',
  'metadata.initiatorId',
].map(partial);

const content = withContent('projectId');

/** What is written of an entry. */
export function rowOf(entry: Entry): Omit<EntryDocument, '_id' | 'rev'> {
  const { createdAt, keepUntil, readAt, ...rest } = entry;
  return {
    ...rest,
    createdAt: new Date(createdAt),
    keepUntil: new Date(keepUntil),
    readAt: readAt === null ? null : new Date(readAt),
    ...(entry.type === 'connection-request' ? { requestOf: entry.metadata.connectionId } : {}),
  };
}

/** Reads the entries of feeds; writing them is the settler's. */
export class MongoEntries {
  readonly #entries: Collection<EntryDocument>;

  constructor(db: Db) {
    this.#entries = db.collection('entries');
  }

  async find(
    { projectId, userId }: Owner,
    by: { id: string } | { requestOf: string },
  ): Promise<Entry | null> {
    const document = await this.#entries.findOne({ ...by, projectId, userId });
    return document && entryOf(document);
  }

  newest(owner: Owner, range: { upTo: number; skip: number; limit: number }): Promise<Entry[]> {
    const { upTo, skip, limit } = range;
    const filter = { _id: { $gte: placeOf(owner, upTo), $lt: endOf(owner) }, ...content };
    return this.#read(filter, { sort: { _id: 1 }, skip, limit });
  }

  following(owner: Owner, range: { after: number; upTo: number; limit: number }): Promise<Entry[]> {
    const { after, upTo, limit } = range;
    const filter = { _id: { $gte: placeOf(owner, upTo), $lt: placeOf(owner, after) }, ...content };
    return this.#read(filter, { sort: { _id: -1 }, limit });
  }

  async ownersOfExpired(now: number): Promise<Owner[]> {
    const found = await this.#entries
      .find({ keepUntil: before(now) }, { projection: { projectId: 1, userId: 1 }, limit: expiryBatch })
      .toArray();
    const owners = new Map(
      found.map(({ projectId, userId }) => [`${projectId}|${userId}`, { projectId, userId }]),
    );
    return [...owners.values()];
  }

  expired(owner: Owner, now: number): Promise<Entry[]> {
    const { projectId, userId } = owner;
    return this.#read({ projectId, userId, keepUntil: before(now) }, { limit: expiryBatch });
  }

  async #read(
    filter: Filter<EntryDocument>,
    options: { sort?: { _id: 1 | -1 }; skip?: number; limit: number },
  ): Promise<Entry[]> {
    // All rows in one answer: a server gives 101 of its own accord.
    const found = this.#entries.find(filter, { ...options, batchSize: options.limit });
    return (await found.toArray()).map(entryOf);
  }
}

/** A range and not only an upper bound: some servers use a partial index for nothing less. */
function before(now: number): { $gt: Date; $lt: Date } {
  return { $gt: new Date(0), $lt: new Date(now) };
}

/** The entry that a stored row is. */
export function entryOf(document: EntryDocument): Entry {
  const { _id, rev, gone, expireAt, requestOf, createdAt, keepUntil, readAt, ...rest } = document;
  return {
    ...rest,
    createdAt: createdAt.getTime(),
    keepUntil: keepUntil.getTime(),
    readAt: readAt?.getTime() ?? null,
  };
}
