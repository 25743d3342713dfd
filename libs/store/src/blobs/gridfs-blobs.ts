import { type Readable, Transform, type Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { type Binary, type Db, GridFSBucket, MongoClient, ObjectId } from 'mongodb';
import { isMongoDuplicate } from '../drivers/mongo.ts';
import '../drivers/mongo-driver.ts';
import { surely } from '../drivers/mongo-settings.ts';
import {
  BlobDamaged,
  type BlobEntry,
  BlobRemoved,
  type Blobs,
  type ByteRange,
  bucketName,
  checkKey,
} from './blobs.ts';
import { eachChunk } from './each-chunk.ts';

/** Size of one chunk, in bytes. If a range of bytes is read, up to this many bytes before it and after it are read too. */
const chunkBytes = 255 * 1024;
/**
 * How many chunks a reader gets from the database at a time. While a client is slow, this many chunks stay in memory. The
 * streams of the driver would fetch 16 MiB at a time, which is the size of the database's largest answer.
 */
const readChunks = 4;
/** How many chunks the sweep looks at in one query. The query reads only the index, not the chunks. */
const sweptChunks = 1_000;
/**
 * After a file is old enough to be swept, sweeps continue to look at it for this long, in ms. So if some sweeps fail, a later
 * sweep still looks at the file.
 */
const recentMs = 60 * 60_000;
/** How often one of the processes looks at the chunks of all files, in ms. */
const wholeEveryMs = 24 * 60 * 60_000;

interface File {
  _id: ObjectId;
  filename: string;
  length: number;
  chunkSize: number;
  uploadDate: Date;
}

interface Chunk {
  _id: ObjectId;
  files_id: ObjectId;
  n: number;
  data: Binary;
}

/** The time at which a process last began to look at the chunks of all files. */
interface Pass {
  _id: 'whole';
  at: Date;
}

/**
 * Bytes in MongoDB. The driver writes the chunks first and the file's document last, so that a reader finds a complete file or
 * no file. Chunks without a file come from a process that has died, or from a removal that was interrupted.
 */
export class GridFsBlobs implements Blobs {
  readonly #client: MongoClient;
  readonly #db: Db;
  readonly #bucket: GridFSBucket;

  private constructor(client: MongoClient, database: string) {
    this.#client = client;
    this.#db = client.db(database);
    this.#bucket = new GridFSBucket(this.#db, {
      bucketName,
      chunkSizeBytes: chunkBytes,
      writeConcern: { w: 'majority' },
    });
  }

  static async open({ url, database }: { url: string; database: string }): Promise<GridFsBlobs> {
    const settings = { ...surely, serverSelectionTimeoutMS: 3_000, connectTimeoutMS: 3_000 };
    // The first client has no `socketTimeoutMS`, because creating an index of a large collection may take very long.
    await using firstClient = new MongoClient(url, settings);
    const first = new GridFsBlobs(firstClient, database);
    await first.#files.createIndex({ filename: 1, uploadDate: 1 });
    await first.#chunks.createIndex({ files_id: 1, n: 1 }, { unique: true });
    const client = new MongoClient(url, { ...settings, socketTimeoutMS: 30_000, maxPoolSize: 20 });
    return new GridFsBlobs(client, database);
  }

  get #files() {
    return this.#db.collection<File>(`${bucketName}.files`);
  }

  get #chunks() {
    return this.#db.collection<Chunk>(`${bucketName}.chunks`);
  }

  get #passes() {
    return this.#db.collection<Pass>(`${bucketName}.passes`);
  }

  async put(
    key: string,
    source: AsyncIterable<Uint8Array>,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<number> {
    const target = this.#bucket.openUploadStream(checkKey(key));
    // The write that failed rejects with this error, so the error need not be handled here.
    target.on('error', () => undefined);
    try {
      // Waits for each write, even if the upload is aborted. Otherwise a write that is still under way could store a chunk
      // after the removal below.
      await eachChunk(source, signal, (chunk) => writeTo(target, chunk));
      signal?.throwIfAborted();
      target.end();
      await finished(target);
    } catch (error) {
      await target.abort().catch(() => undefined);
      await this.#files.deleteOne({ _id: target.id }).catch(() => undefined);
      await this.#chunks.deleteMany({ files_id: target.id }).catch(() => undefined);
      throw error;
    }
    return target.length;
  }

  async read(key: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined> {
    const file = await this.#files.findOne({ filename: checkKey(key) }, { sort: { uploadDate: -1 } });
    if (!file) return undefined;
    const { start = 0, end = file.length } = range ?? {};
    return this.#bytesOf(file, { start, end: Math.min(end + 1, file.length) });
  }

  /** The bytes of a file from `start` up to, but not including, `end`. They end with `BlobDamaged` if a chunk is missing. */
  #bytesOf(file: File, { start, end }: { start: number; end: number }): Readable {
    const { _id, filename, length, chunkSize } = file;
    let at = start;
    const source = this.#chunks
      .find({
        files_id: _id,
        n: { $gte: Math.floor(start / chunkSize), $lt: Math.ceil(end / chunkSize) },
      })
      .project<Pick<Chunk, 'n' | 'data'>>({ _id: 0, n: 1, data: 1 })
      .sort({ n: 1 })
      .batchSize(readChunks)
      .stream();
    const reasonFor = async (error: Error) => {
      const isThere = await this.#files.findOne({ _id }, { projection: { _id: 1 } });
      return isThere ? error : new BlobRemoved(filename, { cause: error });
    };
    const lack = (done: (error: Error) => void) => {
      reasonFor(new BlobDamaged(`The blob ${filename} lacks its last ${end - at} bytes.`)).then(done, done);
    };
    const bytes = new Transform({
      writableObjectMode: true,
      writableHighWaterMark: 1,
      transform({ n, data }: Pick<Chunk, 'n' | 'data'>, _, done) {
        const first = n * chunkSize;
        const chunk = data.value();
        const isWhole = chunk.length === Math.min(chunkSize, length - first);
        if (n !== Math.floor(at / chunkSize) || !isWhole) return lack(done);
        const part = chunk.subarray(at - first, end - first);
        at += part.length;
        done(null, part);
      },
      flush(done) {
        if (at >= end) return done();
        lack(done);
      },
      destroy(error, done) {
        source.destroy();
        done(error);
      },
    });
    // The stream may fail before its reader listens for errors. Without this listener, the error would then end the process.
    // The reader gets the error later.
    bytes.on('error', () => undefined);
    const fail = (error: Error) => void bytes.destroy(error);
    source.once('error', (error) => void reasonFor(error).then(fail, fail));
    return source.pipe(bytes);
  }

  async removeAll(prefix: string): Promise<void> {
    for (;;) {
      const some = await this.#files
        .find({ filename: below(prefix) }, { projection: { _id: 1 }, limit: 500 })
        .toArray();
      if (some.length === 0) return;
      const ids = some.map(({ _id }) => _id);
      // Removes the file's document first. So if the removal stops halfway, the file is already gone for every reader.
      await this.#files.deleteMany({ _id: { $in: ids } }, { writeConcern: { w: 'majority' } });
      await this.#chunks.deleteMany({ files_id: { $in: ids } });
    }
  }

  async *list(prefix = ''): AsyncGenerator<BlobEntry> {
    const filter = prefix === '' ? {} : { filename: below(prefix) };
    const found = this.#files.find(filter, { projection: { filename: 1, length: 1 } });
    for await (const { filename, length } of found) yield { key: filename, size: length };
  }

  async sweep(ms: number): Promise<void> {
    const before = Date.now() - ms;
    const claim = await this.#claimWhole();
    if (!claim) return this.#sweepBetween(idAt(before - recentMs), idAt(before));
    try {
      await this.#sweepBetween(undefined, idAt(before));
    } catch (error) {
      // Gives the claim back, so that the next sweep tries again.
      await this.#passes.deleteOne({ _id: 'whole', at: claim }).catch(() => undefined);
      throw error;
    }
  }

  /**
   * If this process has to look at the chunks of all files, claims this pass and returns the time of the claim. It is not
   * enough to look at recent files. MongoDB may have been interrupted while it removed the chunks of an old file, or no process
   * may have run for a while. One process claims each pass, so that the others do not read the same chunks. If this process
   * dies, the next pass finds the remaining chunks.
   */
  async #claimWhole(): Promise<Date | undefined> {
    const at = new Date();
    const last = { $lt: new Date(at.getTime() - wholeEveryMs) };
    const { matchedCount } = await this.#passes.updateOne({ _id: 'whole', at: last }, { $set: { at } });
    if (matchedCount > 0) return at;
    try {
      // There is no document before the first pass. Does not use an upsert, for the reason given at `insertRow`.
      await this.#passes.insertOne({ _id: 'whole', at });
      return at;
    } catch (error) {
      if (isMongoDuplicate(error)) return undefined;
      throw error;
    }
  }

  async #sweepBetween(from: ObjectId | undefined, before: ObjectId): Promise<void> {
    for (let after = from; ; ) {
      // Looks at all chunks of a file, because MongoDB removes them one by one. If a removal was interrupted, any of the chunks
      // may still be there.
      const some = await this.#chunks
        .find(
          { files_id: { $lt: before, ...(after && { $gt: after }) } },
          { projection: { _id: 0, files_id: 1 }, sort: { files_id: 1 }, limit: sweptChunks },
        )
        .toArray();
      after = some.at(-1)?.files_id;
      if (!after) return;
      const loose = new Map(some.map(({ files_id: id }) => [id.toHexString(), id]));
      const whole = this.#files.find({ _id: { $in: [...loose.values()] } }, { projection: { _id: 1 } });
      for await (const { _id: id } of whole) loose.delete(id.toHexString());
      if (loose.size > 0) await this.#chunks.deleteMany({ files_id: { $in: [...loose.values()] } });
    }
  }

  async check(): Promise<void> {
    await this.#db.command({ ping: 1 });
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}

function writeTo(target: Writable, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    target.write(chunk, (error) => (error ? reject(error) : resolve()));
  });
}

/** The first id of a file that is made after this time. An id begins with the time when it was made, in seconds. */
function idAt(time: number): ObjectId {
  return ObjectId.createFromTime(Math.ceil(time / 1000));
}

/**
 * A filter for the keys that begin with a prefix. The prefix ends with `/`. In ASCII, `0` is the next character after `/`. So
 * the upper bound of these keys has `0` in place of this `/`.
 */
function below(prefix: string): { $gt: string; $lt: string } {
  checkKey(prefix);
  return { $gt: prefix, $lt: `${prefix.slice(0, -1)}0` };
}
