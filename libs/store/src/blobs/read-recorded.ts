import { BlobDamaged, type BlobEntry, type Blobs } from './blobs.ts';

/** Gets the blobs that cannot be copied completely. */
export interface BlobFaults<E extends BlobEntry> {
  /** The blob cannot be read to its end, or its size is not the recorded size. */
  damaged(entry: E): void;
  /** Nothing is stored under the blob's key. */
  missing(entry: E): Promise<void>;
}

/**
 * Reads a recorded blob as far as possible. If not all of the blob can be read, reports this to `faults`. Resolves to
 * `undefined` if nothing can be read. Throws `BlobRemoved` to the reader if the blob is removed meanwhile.
 */
export async function readRecorded<E extends BlobEntry>(
  from: Pick<Blobs, 'read'>,
  entry: E,
  faults: BlobFaults<E>,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  try {
    const bytes = await from.read(entry.key);
    if (bytes) return readableBytes(bytes, entry, faults);
    await faults.missing(entry);
  } catch (error) {
    if (!(error instanceof BlobDamaged)) throw error;
    faults.damaged(entry);
  }
  return undefined;
}

/** If bytes are missing at the end of a blob, a folder and S3 do not notice. They return fewer bytes, without an error. */
async function* readableBytes<E extends BlobEntry>(
  bytes: AsyncIterable<Uint8Array>,
  entry: E,
  faults: BlobFaults<E>,
): AsyncGenerator<Uint8Array> {
  let count = 0;
  let isCut = false;
  try {
    for await (const chunk of bytes) {
      count += chunk.length;
      yield chunk;
    }
  } catch (error) {
    if (!(error instanceof BlobDamaged)) throw error;
    isCut = true;
  }
  if (isCut || count !== entry.size) faults.damaged(entry);
}
