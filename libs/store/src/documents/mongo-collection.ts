import type { Db, Document, Filter, IndexDescription, Collection as MongoCollection } from 'mongodb';
import { type BatchOptions, batchFor, readBatch } from '../drivers/read-batch.ts';
import { outboxIndex } from '../outbox/mongo-outbox.ts';
import { goneIndex, type TargetFields, unsettledIndex } from '../settle/plan.ts';
import { type AnyCollection, asDeclared, type Collection } from './collection.ts';
import { type Counted, knownTotal, type Range, type Search, type Stored } from './documents.ts';
import { MongoById } from './mongo-by-id.ts';
import { keysOf } from './mongo-content.ts';

/**
 * A document as it is stored. `d` holds the service's content as JSON, which allows any field names. The fields beside `d`
 * serve to find the document. A document without `shape` has no content: it is a placeholder of a new target, a target that was
 * deleted, or a row that was removed.
 */
export interface MongoDocument {
  _id: string;
  shape?: number;
  d?: string;
  /** The document's key in each index. */
  k?: Record<string, string>;
  /** The texts that a search looks into, by field. */
  s?: Record<string, string>;
  expiresAt?: Date;
  /** When a target of a `dated` collection was last changed, by the database's clock. */
  changedAt?: Date;
  rev: number;
  /** For a target without content: when it lost its content, or when its placeholder was made. */
  emptyAt?: Date;
  /** For a copy: its epoch and the number of its version. */
  epoch?: number;
  newest?: number;
}

export type MongoTarget = MongoDocument & TargetFields;

/** All fields that make up the content. */
export const contentFields = ['shape', 'd', 'k', 's', 'expiresAt'] as const;
/** A filter for documents with content. */
export const isThere = { shape: { $exists: true } } as const;

/**
 * The placeholder of a new target: a document that reserves the target's id and has no content yet. No read shows it. It has no
 * unique keys, because the target gets these only with the commit. Otherwise, an abandoned placeholder would block its keys for
 * all other targets.
 */
export function placeOf<D>(of: Collection<D>, id: string, set: D | null): MongoTarget {
  const keys = Object.entries(set === null ? {} : keysOf(of, id, set));
  const ordered = keys.filter(([index]) => !of.indexes?.[index]?.unique);
  // A target with this id may have been deleted long ago, and late writers of its rows compare by `rev`. So the new `rev` has
  // to be higher than the last `rev` of the deleted target.
  return { _id: id, rev: Date.now(), emptyAt: new Date(), k: Object.fromEntries(ordered) };
}

/** Converts a stored document to a document as services read it. */
export function readOf<D>(of: Collection<D>, stored: MongoDocument): Stored<D> & { stored: MongoDocument } {
  const { _id: id, shape = 0, d = 'null' } = stored;
  return { id, doc: asDeclared(of, JSON.parse(d), shape), stored };
}

/** The stored document from which `readOf` made this document. */
export function targetOf(read: Stored<unknown>): MongoTarget {
  return (read as Stored<unknown> & { stored: MongoTarget }).stored;
}

/** The indexes of a collection. */
export function indexesOf({ kind, indexes = {}, expires, silent }: AnyCollection): IndexDescription[] {
  const declared = Object.entries(indexes).map(([index, { unique }]): IndexDescription => {
    const field = `k.${index}`;
    const partialFilterExpression = { [field]: { $exists: true } };
    if (unique) return { name: `by ${index}`, key: { [field]: 1 }, unique, partialFilterExpression };
    return { name: `by ${index}`, key: { [field]: 1, _id: 1 }, partialFilterExpression };
  });
  const partial = (field: string): IndexDescription => ({
    name: field,
    key: { [field]: 1 },
    partialFilterExpression: { [field]: { $exists: true } },
  });
  return [
    ...declared,
    ...(expires ? [partial('expiresAt')] : []),
    ...(kind === 'target' ? [unsettledIndex, partial('emptyAt')] : []),
    ...(kind === 'target' && !silent ? [outboxIndex] : []),
    ...(kind === 'row' ? [goneIndex] : []),
  ];
}

/** Reads documents of one collection. */
export class MongoReads<D> {
  readonly collection: Collection<D>;
  readonly stored: MongoCollection<MongoDocument>;
  readonly #byId: MongoById<MongoDocument>;
  readonly #projection: Document | undefined;

  constructor(db: Db, collection: Collection<D>) {
    this.collection = collection;
    this.stored = db.collection(collection.name);
    // Targets are read whole. Of other documents, only the content is needed.
    this.#projection = collection.kind === 'target' ? undefined : { shape: 1, d: 1 };
    this.#byId = new MongoById(this.stored, ({ shape }) => shape !== undefined, this.#projection);
  }

  find(ids: readonly string[]): Promise<MongoDocument[]> {
    return this.#byId.find(ids);
  }

  async findBy(index: string, keys: readonly string[]): Promise<MongoDocument[]> {
    const batchSize = batchFor(keys);
    return this.#all({ [this.#field(index)]: { $in: [...keys] } }, { sort: { _id: 1 }, batchSize });
  }

  /** Pairs of a key and the id of a document with this key. */
  async idsBy(index: string, keys: readonly string[]): Promise<[string, string][]> {
    if (keys.length === 0) return [];
    const field = this.#field(index);
    const found = await this.#all(
      { [field]: { $in: [...keys] } },
      { projection: { [field]: 1 }, batchSize: batchFor(keys) },
    );
    return found.map(({ _id, k }) => [k?.[index] ?? '', _id]);
  }

  /** At most `limit` documents with one of these keys, including the placeholders of targets that are being made. */
  async some(index: string, keys: readonly string[], limit: number): Promise<MongoDocument[]> {
    const filter = { [this.#field(index)]: { $in: [...keys] } } as Filter<MongoDocument>;
    return this.stored.find(filter, { limit, batchSize: limit }).toArray();
  }

  async texts<F extends string>(
    ids: readonly string[],
    fields: readonly F[],
  ): Promise<Map<string, Record<F, string>>> {
    if (ids.length === 0) return new Map();
    const projection = Object.fromEntries(fields.map((field) => [this.#text(field), 1]));
    const found = await this.#all({ _id: { $in: [...ids] } }, { projection, batchSize: batchFor(ids) });
    const textsOf = ({ s = {} }: MongoDocument) =>
      Object.fromEntries(fields.map((field) => [field, s[field] ?? ''])) as Record<F, string>;
    return new Map(found.map((one) => [one._id, textsOf(one)]));
  }

  async range({ limit, skip = 0, backwards, ...ends }: Range, index?: string) {
    const field = this.#field(index);
    const sort = orderOf(field, backwards);
    const options = { sort, limit, batchSize: limit, ...(skip > 0 && { skip }) };
    return this.#all(
      { [field]: between(ends) },
      { ...options, ...(this.#projection && { projection: this.#projection }) },
    );
  }

  async count({ limit, ...ends }: Counted, index?: string): Promise<number> {
    const filter = { [this.#field(index)]: between(ends), ...isThere } as Filter<MongoDocument>;
    return this.stored.countDocuments(filter, limit === undefined ? {} : { limit });
  }

  async search(
    range: Range,
    { text, fields, starts, index, after, uncounted }: Search,
  ): Promise<{ found: MongoDocument[]; total: number }> {
    const { limit, skip = 0, backwards, ...ends } = range;
    const field = this.#field(index);
    // A BSON pattern cannot contain the character NUL, so the pattern has an escape sequence in its place.
    const literal = text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll('\0', '\\x00');
    const pattern = (starts ? '^' : '') + literal;
    const within = (above: string) => ({
      [field]: between({ ...ends, above }),
      $or: fields.map((name) => ({ [this.#text(name)]: { $regex: pattern } })),
      ...isThere,
    });
    const sort = orderOf(field, backwards);
    const found = await this.#all(within(after ?? ends.above), { sort, skip, limit, batchSize: limit });
    const total =
      knownTotal(range, found.length, { after, uncounted }) ??
      (await this.stored.countDocuments(within(ends.above) as Filter<MongoDocument>));
    return { found, total };
  }

  #all(filter: object, options: BatchOptions): Promise<MongoDocument[]> {
    return readBatch(this.stored, { ...filter, ...isThere } as Filter<MongoDocument>, options);
  }

  #field(index?: string): string {
    if (index === undefined) return '_id';
    if (!this.collection.indexes?.[index])
      throw new TypeError(`${this.collection.name} has no index ${index}.`);
    return `k.${index}`;
  }

  #text(field: string): string {
    if (!this.collection.search?.[field]) {
      throw new TypeError(`${this.collection.name} is not searched by ${field}.`);
    }
    return `s.${field}`;
  }
}

/** Sorts by the field, then by id. */
function orderOf(field: string, backwards: true | undefined): Record<string, 1 | -1> {
  const way = backwards ? -1 : 1;
  return { [field]: way, _id: way };
}

/** A filter for values between two bounds. */
export function between({ above, below, except = [] }: Pick<Range, 'above' | 'below' | 'except'>) {
  return { $gt: above, $lt: below, ...(except.length > 0 && { $nin: [...except] }) };
}
