/** The prefix of the names of the collections that GridFS keeps bytes in. */
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

/**
 * Where the bytes of files are stored: in a folder, in GridFS, or in an S3-compatible store (docs/adr/0045). A key is a path of
 * segments of `[A-Za-z0-9._-]`, divided by `/`. What is stored under a key is never changed, only removed.
 */
export interface Blobs {
  /**
   * Stores bytes whole or not at all, and resolves to their number once they survive the death of this process (in a folder,
   * also a power failure). Reads no faster than it can store: it asks for a chunk only when it no longer needs the memory of
   * the chunk before. Rejects when the source rejects or the signal is aborted.
   */
  put(key: string, source: AsyncIterable<Uint8Array>, options?: { signal?: AbortSignal }): Promise<number>;
  /**
   * The bytes, or a part of them, at the reader's pace; `undefined` if there are none under this key. A chunk is valid until
   * the reader asks for the next one, which may use the same memory. Always iterate the result: nothing else closes what is
   * open.
   */
  read(key: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Removes all blobs whose keys begin with `prefix`, which ends with `/`. It is no error if there are none. */
  removeAll(prefix: string): Promise<void>;
  /** All blobs whose keys begin with `prefix`, in no particular order. */
  list(prefix?: string): AsyncIterable<BlobEntry>;
  /** Removes incomplete blobs that are older than `ms`: processes that died have left them. */
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
