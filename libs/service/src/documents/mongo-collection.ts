import DataLoader from 'dataloader';
import type { Db, Filter, IndexDescription, Collection as MongoCollection } from 'mongodb';
import { outboxIndex } from '../events/mongo-outbox.ts';
import { goneIndex, type TargetFields, unsettledIndex } from '../settle/plan.ts';
import type { AnyCollection, Collection } from './collection.ts';
import type { Range } from './documents.ts';

/**
 * A document as it is stored: what the service makes of it in `d`, as JSON, which has any names of fields, and beside it what it is found by. Without `shape` it is
 * none: one that is being made, was deleted a while ago, or is a row that was taken away.
 */
export interface MongoDocument {
  _id: string;
  shape?: number;
  d?: string;
  /** Keys by index. */
  k?: Record<string, string>;
  /** Texts that are searched, by field. */
  s?: Record<string, string>;
  expiresAt?: Date;
  rev: number;
  /** Of a target without content: since when. */
  emptyAt?: Date;
  /** Of a copy. */
  epoch?: number;
  newest?: number;
}

export type MongoTarget = MongoDocument & TargetFields;

/** Most ids that one question names. */
const someIds = 1_000;
/** Everything that content consists of. */
export const contentFields = ['shape', 'd', 'k', 's', 'expiresAt'] as const;
/** Filter for what is there. */
export const isThere = { shape: { $exists: true } } as const;

/** What a document is stored as, beside its id. */
export function contentOf<D>(of: Collection<D>, id: string, doc: D) {
  const keys = keysOf(of, id, doc);
  const texts = Object.entries(of.search ?? {}).map(([field, text]) => [field, text(doc)]);
  const expires = of.expires?.(doc) ?? null;
  return {
    shape: of.version,
    d: JSON.stringify(doc),
    ...(Object.keys(keys).length > 0 && { k: keys }),
    ...(texts.length > 0 && { s: Object.fromEntries(texts) as Record<string, string> }),
    ...(expires !== null && { expiresAt: new Date(expires) }),
  };
}

export function keysOf<D>({ indexes = {} }: Collection<D>, id: string, doc: D): Record<string, string> {
  const keys = Object.entries(indexes).map(([index, { key }]) => [index, key(doc, id)] as const);
  return Object.fromEntries(keys.filter((entry): entry is [string, string] => entry[1] !== null));
}

/** The indexes of a collection. */
export function indexesOf({ kind, indexes = {}, expires }: AnyCollection): IndexDescription[] {
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
    ...(kind === 'target' ? [unsettledIndex, outboxIndex, partial('emptyAt')] : []),
    ...(kind === 'row' ? [goneIndex] : []),
  ];
}

/** Reads of one collection. */
export class MongoReads<D> {
  readonly collection: Collection<D>;
  readonly stored: MongoCollection<MongoDocument>;
  readonly #byId: DataLoader<string, MongoDocument | null>;

  constructor(db: Db, collection: Collection<D>) {
    this.collection = collection;
    this.stored = db.collection(collection.name);
    this.#byId = new DataLoader((ids) => this.#findTogether(ids), {
      cache: false,
      maxBatchSize: someIds,
      batchScheduleFn: (ask) => setImmediate(ask),
    });
  }

  /** What is asked for by id in one turn of the loop, by whatever requests, is one question. */
  async find(ids: readonly string[]): Promise<MongoDocument[]> {
    const found = await this.#byId.loadMany(ids);
    const failed = found.find((one) => one instanceof Error);
    if (failed) throw failed;
    return found.filter((one) => one !== null) as MongoDocument[];
  }

  async #findTogether(ids: readonly string[]): Promise<(MongoDocument | null)[]> {
    const found = await this.#all({ _id: { $in: [...new Set(ids)] } }, { batchSize: ids.length });
    const byId = new Map(found.map((one) => [one._id, one]));
    return ids.map((id) => byId.get(id) ?? null);
  }

  async findBy(index: string, keys: readonly string[]): Promise<MongoDocument[]> {
    return this.#all({ [this.#field(index)]: { $in: [...keys] } }, { sort: { _id: 1 } });
  }

  async range({ limit, skip = 0, backwards, ...ends }: Range, index?: string) {
    const field = this.#field(index);
    const sort = orderOf(field, backwards);
    return this.#all({ [field]: between(ends) }, { sort, skip, limit, batchSize: limit });
  }

  async count(ends: Omit<Range, 'limit' | 'skip'>, index?: string): Promise<number> {
    return this.stored.countDocuments({
      [this.#field(index)]: between(ends),
      ...isThere,
    } as Filter<MongoDocument>);
  }

  async search(
    { limit, skip = 0, backwards, ...ends }: Range,
    {
      text,
      fields,
      starts,
      index,
    }: { text: string; fields: readonly string[]; starts?: true; index?: string },
  ): Promise<{ found: MongoDocument[]; total: number }> {
    const field = this.#field(index);
    const pattern = (starts ? '^' : '') + text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
    const filter = {
      [field]: between(ends),
      $or: fields.map((name) => ({ [this.#text(name)]: { $regex: pattern } })),
      ...isThere,
    } as Filter<MongoDocument>;
    const total = await this.stored.countDocuments(filter);
    const sort = orderOf(field, backwards);
    const found = skip >= total ? [] : await this.#all(filter, { sort, skip, limit });
    return { found, total };
  }

  async #all(filter: object, options: object): Promise<MongoDocument[]> {
    return this.stored.find({ ...filter, ...isThere } as Filter<MongoDocument>, options).toArray();
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

/** By the field, then by id. */
function orderOf(field: string, backwards: true | undefined): Record<string, 1 | -1> {
  const way = backwards ? -1 : 1;
  return { [field]: way, _id: way };
}

/** Filter for what lies between two ends. */
function between({ above, below, except = [] }: Pick<Range, 'above' | 'below' | 'except'>) {
  return { $gt: above, $lt: below, ...(except.length > 0 && { $nin: [...except] }) };
}
