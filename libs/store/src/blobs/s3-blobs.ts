import { Readable } from 'node:stream';
import type { MultipartUpload, S3Client } from '@aws-sdk/client-s3';
import { redactUrl, StartError } from '@kith/base';
import { type BlobEntry, type Blobs, type ByteRange, checkKey } from './blobs.ts';

type Library = typeof import('@aws-sdk/client-s3') & typeof import('@aws-sdk/lib-storage');

/** How many bytes of an upload are held in memory. This is the smallest size that S3 allows for a part. */
const partBytes = 5 * 1024 * 1024;
/** The maximum number of pages of unfinished uploads that one sweep reads. A page has 1,000 uploads at most. */
const sweptPages = 20;
/** How long the server may take to answer, in ms. By default, the client library waits for ever. */
const requestMs = 60_000;
/** Connections are kept for later requests, and there may be any number of them. */
const unlimited = { keepAlive: true, maxSockets: Infinity };

/** Where a bucket is: `s3://KEY:SECRET@host:port/bucket/prefix?region=…&tls=false`. */
export interface S3Place {
  bucket: string;
  prefix: string;
  region: string;
  /** The address of an S3-compatible server; absent for Amazon. */
  endpoint?: string;
  credentials?: { accessKeyId: string; secretAccessKey: string };
}

/**
 * Reads an address of S3. `s3://bucket` is a bucket at Amazon, with the credentials of the machine. If there is a path, its
 * first segment is the bucket, and the host is an S3-compatible server. Throws `StartError`.
 */
export function s3Place(text: string): S3Place {
  const wrong = new StartError(
    `STORAGE_URL ${redactUrl(text)} is not an address in S3. Use s3://bucket or s3://KEY:SECRET@host:port/bucket.`,
  );
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw wrong;
  }
  const [first = '', ...rest] = url.pathname.split('/').filter(Boolean).map(decodeURIComponent);
  const region = url.searchParams.get('region') ?? 'us-east-1';
  const credentials = url.username
    ? {
        accessKeyId: decodeURIComponent(url.username),
        secretAccessKey: decodeURIComponent(url.password),
      }
    : undefined;
  const common = { region, ...(credentials && { credentials }) };
  if (!first) {
    if (!url.hostname) throw wrong;
    return { ...common, bucket: url.hostname, prefix: '' };
  }
  const scheme = url.searchParams.get('tls') === 'false' ? 'http' : 'https';
  const prefix = rest.length > 0 ? `${rest.join('/')}/` : '';
  return { ...common, bucket: first, prefix, endpoint: `${scheme}://${url.host}` };
}

/** Bytes in an S3-compatible store. Such a store never shows an incomplete object. */
export class S3Blobs implements Blobs {
  readonly #library: Library;
  readonly #client: S3Client;
  readonly #place: S3Place;

  private constructor(library: Library, client: S3Client, place: S3Place) {
    this.#library = library;
    this.#client = client;
    this.#place = place;
  }

  /** Throws `StartError` when the client's packages are not installed or the bucket cannot be used. */
  static async open(text: string): Promise<S3Blobs> {
    const place = s3Place(text);
    const library = await load();
    const { endpoint, region, credentials } = place;
    const client = new library.S3Client({
      region,
      ...(credentials && { credentials }),
      // Many S3-compatible servers know no checksum except the one in the signature, and find a bucket only if it is in the
      // path.
      ...(endpoint && { endpoint, forcePathStyle: true }),
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        // Limits the time until the answer begins. A download may take longer.
        ...{ requestTimeout: requestMs, throwOnRequestTimeout: true },
        // A download keeps its connection for as long as its client reads. By default, there are at most 50 connections, and a
        // few slow clients would use them up.
        ...{ httpAgent: unlimited, httpsAgent: unlimited },
      },
    });
    const blobs = new S3Blobs(library, client, place);
    try {
      await blobs.check();
    } catch (error) {
      client.destroy();
      throw new StartError(`The bucket ${place.bucket} cannot be used: ${(error as Error).name}.`, {
        cause: error,
      });
    }
    return blobs;
  }

  async put(
    key: string,
    source: AsyncIterable<Uint8Array>,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<number> {
    const { Upload } = this.#library;
    let size = 0;
    async function* counted() {
      for await (const chunk of source) {
        size += chunk.length;
        // Copies the chunk, because the client library holds several chunks, and the next chunk may use the same memory.
        yield Buffer.from(chunk);
      }
    }
    const body = Readable.from(counted(), { objectMode: false });
    const upload = new Upload({
      client: this.#client,
      params: { ...this.#at(key), Body: body },
      partSize: partBytes,
      queueSize: 1,
    });
    // `failed` rejects with the source's own error. The client library would replace that error with an error of its own.
    const { promise: failed, reject } = Promise.withResolvers<never>();
    failed.catch(() => undefined);
    body.once('error', reject);
    const abort = () => {
      // If the body was read to its end, the object may appear at any moment. In this case, `put` waits for the upload, so that
      // the caller can remove the object.
      if (!body.closed) reject(signal?.reason);
      body.destroy(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
    const done = upload.done();
    done.catch(() => undefined);
    try {
      signal?.throwIfAborted();
      await Promise.race([done, failed]);
      signal?.throwIfAborted();
      return size;
    } catch (error) {
      body.destroy();
      await upload.abort().catch(() => undefined);
      throw error;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  async read(key: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined> {
    const { GetObjectCommand } = this.#library;
    try {
      const { Body } = await this.#client.send(
        new GetObjectCommand({
          ...this.#at(key),
          ...(range && { Range: `bytes=${range.start}-${range.end}` }),
        }),
      );
      return Body as Readable;
    } catch (error) {
      if (['NoSuchKey', 'NotFound'].includes((error as Error).name)) return undefined;
      throw error;
    }
  }

  async removeAll(prefix: string): Promise<void> {
    const { DeleteObjectsCommand } = this.#library;
    checkKey(prefix);
    for await (const keys of this.#pages(prefix)) {
      const { Errors = [] } = await this.#client.send(
        new DeleteObjectsCommand({
          Bucket: this.#place.bucket,
          Delete: { Quiet: true, Objects: keys.map(({ key }) => ({ Key: `${this.#place.prefix}${key}` })) },
        }),
      );
      if (Errors.length > 0)
        throw new Error(`S3 did not remove ${Errors.length} objects (${Errors[0]?.Code}).`);
    }
  }

  async *list(prefix = ''): AsyncGenerator<BlobEntry> {
    for await (const some of this.#pages(prefix)) yield* some;
  }

  /** Aborts multipart uploads that were abandoned. */
  async sweep(ms: number): Promise<void> {
    const { AbortMultipartUploadCommand, ListMultipartUploadsCommand } = this.#library;
    const { bucket: Bucket, prefix: Prefix } = this.#place;
    const before = Date.now() - ms;
    const abandoned: MultipartUpload[] = [];
    let KeyMarker: string | undefined;
    for (let pages = 0; pages < sweptPages; pages++) {
      const page = await this.#client.send(new ListMultipartUploadsCommand({ Bucket, Prefix, KeyMarker }));
      const some = page.Uploads ?? [];
      abandoned.push(...some.filter(({ Initiated }) => Initiated && Initiated.getTime() < before));
      if (!page.IsTruncated || !page.NextKeyMarker) break;
      // Does not also send the id of the last upload, because some servers refuse it. No key has more than one upload, so the
      // key is enough.
      KeyMarker = page.NextKeyMarker;
    }
    for (const { Key, UploadId } of abandoned)
      await this.#client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
  }

  async check(): Promise<void> {
    await this.#client.send(new this.#library.HeadBucketCommand({ Bucket: this.#place.bucket }));
  }

  async close(): Promise<void> {
    this.#client.destroy();
  }

  #at(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#place.bucket, Key: `${this.#place.prefix}${checkKey(key)}` };
  }

  async *#pages(prefix: string): AsyncGenerator<BlobEntry[]> {
    const { ListObjectsV2Command } = this.#library;
    const own = this.#place.prefix;
    let ContinuationToken: string | undefined;
    do {
      const page = await this.#client.send(
        new ListObjectsV2Command({
          Bucket: this.#place.bucket,
          Prefix: `${own}${prefix}`,
          ContinuationToken,
        }),
      );
      const some = (page.Contents ?? []).map(({ Key = '', Size = 0 }) => ({
        key: Key.slice(own.length),
        size: Size,
      }));
      if (some.length > 0) yield some;
      ContinuationToken = page.IsTruncated ? page.NextContinuationToken : undefined;
    } while (ContinuationToken);
  }
}

async function load(): Promise<Library> {
  try {
    const [client, storage] = await Promise.all([
      import('@aws-sdk/client-s3'),
      import('@aws-sdk/lib-storage'),
    ]);
    return { ...client, ...storage };
  } catch (error) {
    throw new StartError(
      'STORAGE_URL names S3, whose client is not installed: npm install @aws-sdk/client-s3 @aws-sdk/lib-storage',
      { cause: error },
    );
  }
}
