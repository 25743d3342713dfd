import { BlobDamaged, type BlobEntry } from './blobs.ts';

/**
 * The bytes of a blob. If the blob is damaged, or its size is not the recorded size, yields the bytes that can be read, and
 * then calls `damaged`. A folder and S3 do not know how many bytes were stored, so they give fewer bytes and no error.
 */
export async function* readableBytes(
  bytes: AsyncIterable<Uint8Array>,
  { size }: BlobEntry,
  damaged: () => void,
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
  if (isCut || count !== size) damaged();
}
