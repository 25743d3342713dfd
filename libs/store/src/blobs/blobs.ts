/** GridFS keeps bytes in collections whose names begin with this name. */
export const bucketName = 'blobs';

/** A range of bytes; both ends are included. */
export interface ByteRange {
  start: number;
  end: number;
}

/** The key and size of a stored blob, without its bytes. */
export interface BlobEntry {
  key: string;
  size: number;
}

/** Thrown to a reader if a blob is removed before the reader has all of it. */
export class BlobRemoved extends Error {
  override name = 'BlobRemoved';

  constructor(key: string, options?: ErrorOptions) {
    super(`The blob ${key} was removed while it was read.`, options);
  }
}

/** Thrown to a reader if a part of a blob's bytes cannot be read, or is missing although nobody has removed the blob. */
export class BlobDamaged extends Error {
  override name = 'BlobDamaged';
}

/**
 * Where the bytes of files are stored: in a folder, in GridFS, or in an S3-compatible store (docs/adr/0045). A key is a path of
 * segments of `[A-Za-z0-9._-]`, divided by `/`. The bytes under a key are never changed, only removed.
 */
export interface Blobs {
  /** If the blobs are in a folder: an id of this folder. Two processes with the same id read the same blobs. */
  readonly folderId?: string | undefined;
  /**
   * Stores all bytes of the source or none. Resolves to the number of bytes as soon as the bytes would survive the death of
   * this process. In a folder, they survive a power failure too. Reads the source no faster than the bytes can be stored. Asks
   * the source for the next chunk only when the memory of the previous chunk is no longer needed. Rejects if the source rejects
   * or the signal is aborted.
   */
  put(key: string, source: AsyncIterable<Uint8Array>, options?: { signal?: AbortSignal }): Promise<number>;
  /**
   * Returns the bytes, or a part of them. They are read only as fast as the reader asks for them. `undefined` if nothing is
   * stored under this key. A chunk is valid until the reader asks for the next chunk, which may use the same memory. Always
   * iterate the result. Otherwise, the open file or connection behind it is never closed. If the blob is removed meanwhile, the
   * reader gets either the whole blob or the error `BlobRemoved`.
   */
  read(key: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Removes all blobs whose keys begin with `prefix`, which ends with `/`. If there are none, this is not an error. */
  removeAll(prefix: string): Promise<void>;
  /** All blobs whose keys begin with `prefix`, in no particular order. Blobs that are removed meanwhile may be missing. */
  list(prefix?: string): AsyncIterable<BlobEntry>;
  /**
   * Removes incomplete blobs that are older than `ms`. Such blobs are left behind by processes that died. With GridFS, one
   * sweep a day looks at all blobs, and the other sweeps look only at recent blobs.
   */
  sweep(ms: number): Promise<void>;
  /** Rejects when the store cannot be used. */
  check(): Promise<void>;
  close(): Promise<void>;
}

const keyForm = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;

/** Refuses a key, or a prefix, that could lead outside the store. Throws `TypeError`. */
export function checkKey(key: string): string {
  const path = key.endsWith('/') ? key.slice(0, -1) : key;
  if (!keyForm.test(path)) throw new TypeError('This cannot be the key of a blob.');
  return key;
}
