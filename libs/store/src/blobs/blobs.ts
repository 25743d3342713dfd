/** Begins the names of the collections that GridFS keeps bytes in. */
export const bucketName = 'blobs';

/** A part of some bytes: from the first to the last one, both inclusive. */
export interface ByteRange {
  start: number;
  end: number;
}

/** Bytes that are stored, without the bytes. */
export interface BlobEntry {
  key: string;
  size: number;
}

/**
 * Where the bytes of files lie: in a folder, in GridFS, or in an S3-compatible store (docs/adr/0045). A key is a path of segments
 * of `[A-Za-z0-9._-]`, divided by `/`. What is stored under a key is never changed, only removed.
 */
export interface Blobs {
  /**
   * Stores bytes whole or not at all, and resolves with their number once they survive the loss of this process, and in a folder
   * that of the power. Reads no faster than it can store: it asks for a chunk when it needs the memory of the one before no more.
   * Rejects when the source does, or the signal is aborted.
   */
  put(key: string, source: AsyncIterable<Uint8Array>, options?: { signal?: AbortSignal }): Promise<number>;
  /**
   * The bytes, or a part of them, at the reader's pace; `undefined` where there are none under this key. A chunk is the reader's until
   * it asks for the next one, which may come in the same memory. Always iterate them: what is open is closed by that alone.
   */
  read(key: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Removes all whose keys begin with `prefix`, which ends with `/`. Removing what is not there is no error. */
  removeAll(prefix: string): Promise<void>;
  /** All whose keys begin with `prefix`, in no order. */
  list(prefix?: string): AsyncIterable<BlobEntry>;
  /** Removes what a process that died has left of bytes it had not stored whole, once that is `ms` old. */
  sweep(ms: number): Promise<void>;
  /** Rejects when the store cannot be used. */
  check(): Promise<void>;
  close(): Promise<void>;
}

const keyForm = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;

/** Refuses a key, or a prefix, that could lead out of its place. Throws `TypeError`. */
export function checkKey(key: string): string {
  const path = key.endsWith('/') ? key.slice(0, -1) : key;
  if (!keyForm.test(path)) throw new TypeError('This cannot be the key of a blob.');
  return key;
}
