import { redactUrl, StartError } from '@kith/base';
import type { ServiceMove } from '@kith/store/open';
import type { Collection, Db, Document, MongoClient } from 'mongodb';
import { Checksum, isFirm } from './checksum.ts';

interface Mark {
  _id: string;
  /** The id of the move that fills this database. */
  move: string;
  finishedAt?: Date;
}

/** How many documents are read at a time. Without this number, a server sends up to 16 MiB at a time. */
const batchSize = 500;

type MovedDocument = Document & { _id: string | number };

/** The databases of a distributed platform, while one move fills them. */
export class Target implements AsyncDisposable {
  readonly #client: MongoClient;
  readonly #options: { url: string; prefix: string };

  private constructor(client: MongoClient, options: { url: string; prefix: string }) {
    this.#client = client;
    this.#options = options;
  }

  /** Connects to the databases. Throws `StartError`. */
  static async open(options: { url: string; prefix: string }): Promise<Target> {
    // The driver is loaded only when this function runs, because the embedded form works without it (docs/adr/0043).
    const [{ MongoClient }, { surely }] = await Promise.all([import('mongodb'), import('@kith/store/mongo')]);
    const client = new MongoClient(options.url, { ...surely, serverSelectionTimeoutMS: 10_000 });
    try {
      await client.connect();
    } catch (error) {
      throw new StartError(`MongoDB at ${redactUrl(options.url)} does not answer.`, { cause: error });
    }
    return new Target(client, options);
  }

  databaseOf(service: string): string {
    return this.#db(service).databaseName;
  }

  /** Throws `StartError` if this move has not filled the service's database. */
  async checkClaimed(service: string, move: string): Promise<void> {
    const mark = await this.#marks(service).findOne({ _id: 'move' });
    if (mark?.move === move) return;
    throw new StartError(
      `The database ${this.databaseOf(service)} at ${redactUrl(this.#options.url)} is not the one that the data was copied to.`,
    );
  }

  /** Claims a service's database for a move. Throws `StartError` if the database holds other data, or if a move to it has ended. */
  async claim({ service, prepare }: ServiceMove, move: string): Promise<void> {
    const db = this.#db(service);
    const marks = this.#marks(service);
    const mark = await marks.findOne({ _id: 'move' });
    if (mark?.finishedAt) throw new StartError(`The data was moved to ${db.databaseName} already.`);
    if (mark && mark.move !== move) throw foreign(db);
    if (!mark) {
      for (const { name } of await db.listCollections({}, { nameOnly: true }).toArray()) {
        if (name !== 'schema' && (await db.collection(name).findOne())) throw foreign(db);
      }
      await marks.insertOne({ _id: 'move', move });
    }
    const { url } = this.#options;
    await prepare({ kind: 'mongo', url, database: db.databaseName });
  }

  /** Empties the collections that a move fills. An earlier run may have copied data there that has changed since then. */
  async clear({ service, tables }: ServiceMove): Promise<void> {
    const names = new Set(tables.map(({ collection }) => collection));
    for (const name of names) await this.#db(service).collection(name).deleteMany({});
  }

  /**
   * Writes documents. Each document replaces the stored document that has the same id. So if a document is written twice, the
   * second time changes nothing.
   */
  async put(service: string, collection: string, documents: readonly MovedDocument[]): Promise<void> {
    if (documents.length === 0) return;
    await this.#db(service)
      .collection<MovedDocument>(collection)
      .bulkWrite(
        documents.map((document) => ({
          replaceOne: { filter: { _id: document._id }, replacement: document, upsert: true },
        })),
        { ordered: false },
      );
  }

  /** The checksum of a collection, without the documents that are about to expire. */
  async checksum(service: string, collection: string, firmAt: number): Promise<Checksum> {
    const sum = new Checksum();
    for await (const document of this.#db(service).collection(collection).find({}, { batchSize })) {
      if (isFirm(document, firmAt)) sum.add(document);
    }
    return sum;
  }

  /**
   * Notes that a service's database is complete. From then on the database belongs to the platform. A second call changes nothing.
   */
  async finish(service: string): Promise<void> {
    const isNot = { _id: 'move', finishedAt: { $exists: false } };
    await this.#marks(service).updateOne(isNot, { $set: { finishedAt: new Date() } });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#client.close();
  }

  #marks(service: string): Collection<Mark> {
    return this.#db(service).collection<Mark>('moves');
  }

  #db(service: string): Db {
    return this.#client.db(`${this.#options.prefix}_${service}`);
  }
}

function foreign(db: Db): StartError {
  return new StartError(
    `The database ${db.databaseName} holds other data; choose another KITH_PREFIX, or drop the databases of this prefix.`,
  );
}
