import type { Blobs } from '@kith/store/blobs';

export interface StoreOptions {
  /** The bytes are completed in the store only after this promise has resolved. */
  noted: Promise<void>;
  signal: AbortSignal;
  /** Called with the first bytes. These are at least `headBytes` bytes, or all bytes of a smaller file. */
  onHead?: (head: Uint8Array) => void;
  /** Called with the number of bytes that have arrived so far. If this throws, the upload ends. */
  onSize?: (size: number) => void;
}

/** How many bytes are needed to recognise the type of a file. */
export const headBytes = 4_100;

/** Stores bytes under a key, and returns their number. */
export function storeBytes(
  blobs: Blobs,
  key: string,
  source: AsyncIterable<Uint8Array>,
  { noted, signal, onHead, onSize }: StoreOptions,
): Promise<number> {
  let size = 0;
  let head: Uint8Array[] | undefined = onHead ? [] : undefined;
  const tellHead = () => {
    if (!head) return;
    onHead?.(Buffer.concat(head));
    head = undefined;
  };
  async function* watched() {
    for await (const chunk of source) {
      // Copies the bytes, because the memory of the chunk is used again for other bytes.
      if (head) head.push(Buffer.from(chunk.subarray(0, headBytes)));
      size += chunk.length;
      onSize?.(size);
      if (size >= headBytes) tellHead();
      yield chunk;
    }
    tellHead();
    await noted;
    onSize?.(size);
  }
  return blobs.put(key, watched(), { signal });
}
