import type { Document, Filter, Collection as MongoCollection } from 'mongodb';
import { batchFor, readBatch } from '../drivers/read-batch.ts';

/** Maximum number of ids in one query. */
const someIds = 1_000;

interface Asked<T> {
  ids: readonly string[];
  resolve: (found: T[]) => void;
  reject: (error: unknown) => void;
}

/**
 * Reads documents by id. All ids that requests ask for in the same turn of the event loop are read in one query. Nothing is
 * cached.
 */
export class MongoById<T extends Document & { _id: string }> {
  readonly stored: MongoCollection<T>;
  readonly #isOne: (found: T) => boolean;
  readonly #projection: Document | undefined;
  #asked: Asked<T>[] = [];

  /**
   * @param isOne Documents that fail this test count as missing. The test runs here and not in the database, because hardly any
   * document fails it.
   * @param projection The fields to read of each document; all by default.
   */
  constructor(stored: MongoCollection<T>, isOne: (found: T) => boolean = () => true, projection?: Document) {
    this.stored = stored;
    this.#isOne = isOne;
    this.#projection = projection;
  }

  /** Resolves to the documents that are there, in the order of the given ids. */
  find(ids: readonly string[]): Promise<T[]> {
    if (ids.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      if (this.#asked.push({ ids, resolve, reject }) === 1) setImmediate(() => void this.#findAsked());
    });
  }

  async #findAsked(): Promise<void> {
    const asked = this.#asked;
    this.#asked = [];
    try {
      const ids = [...new Set(asked.flatMap((one) => one.ids))];
      const parts = Array.from({ length: Math.ceil(ids.length / someIds) }, (_, at) =>
        this.#read(ids.slice(at * someIds, (at + 1) * someIds)),
      );
      const found = (await Promise.all(parts)).flat().filter(this.#isOne);
      const byId = new Map(found.map((one) => [one._id, one]));
      for (const one of asked) one.resolve(one.ids.flatMap((id) => byId.get(id) ?? []));
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }

  #read(ids: readonly string[]): Promise<T[]> {
    const filter = { _id: ids.length === 1 ? ids[0] : { $in: ids } } as Filter<T>;
    const options = { batchSize: batchFor(ids), ...(this.#projection && { projection: this.#projection }) };
    return readBatch(this.stored, filter, options);
  }
}
