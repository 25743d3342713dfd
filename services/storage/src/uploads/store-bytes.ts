import { createHash } from 'node:crypto';
import type { Blobs } from '@kith/store/blobs';
import type { BytesRecord } from '../file.ts';

export interface StoreOptions {
  signal: AbortSignal;
  /** Called with the first bytes. These are enough bytes to recognise a type, or all bytes if there are fewer. */
  onHead?: (head: Uint8Array) => void;
  /** Called with the number of bytes that have come so far. If this throws, the upload ends. */
  onSize?: (size: number) => void;
}

/** How many bytes it takes to recognise a type. */
export const headBytes = 4_100;

/** Stores bytes under a key, and returns their number and digest. */
export async function storeBytes(
  blobs: Blobs,
  key: string,
  source: AsyncIterable<Uint8Array>,
  { signal, onHead, onSize }: StoreOptions,
): Promise<BytesRecord> {
  const digest = createHash('sha256');
  let size = 0;
  let head: Uint8Array[] | undefined = onHead ? [] : undefined;
  const tellHead = () => {
    if (!head) return;
    onHead?.(Buffer.concat(head));
    head = undefined;
  };
  async function* watched() {
    for await (const chunk of source) {
      // The bytes are copied, because the chunk's memory is reused.
      if (head) head.push(Buffer.from(chunk.subarray(0, headBytes)));
      size += chunk.length;
      onSize?.(size);
      digest.update(chunk);
      if (size >= headBytes) tellHead();
      yield chunk;
    }
    tellHead();
  }
  await blobs.put(key, watched(), { signal });
  return { size, digest: digest.digest('base64url') };
}
