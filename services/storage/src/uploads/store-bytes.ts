import { createHash } from 'node:crypto';
import type { Blobs } from '@kith/store/blobs';
import type { BytesRecord } from '../file.ts';

export interface StoreOptions {
  signal: AbortSignal;
  /** Hears the first bytes, as many as a type is recognised by, or all where there are fewer. */
  onHead?: (head: Uint8Array) => void;
  /** Hears how many bytes there are so far; what it throws ends the upload. */
  onSize?: (size: number) => void;
}

/** As many bytes as types are recognised by. */
export const headBytes = 4_100;

/** Stores bytes under a key, and tells their number and digest. */
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
      // What is kept of a chunk is copied: its memory is used again.
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
