import { type BlobEntry, BlobRemoved, type Blobs } from './blobs.ts';
import { readableBytes } from './readable-bytes.ts';

/** Number of copies that are made at the same time. */
const atOnce = 4;

/**
 * Copies all blobs to another store, except blobs that the other store already has with the same size. A blob that is removed
 * meanwhile is not copied. With `damaged`, copies the readable bytes of a damaged blob, and calls `damaged`. Resolves to the
 * number of blobs in `from`.
 */
export async function copyBlobs<E extends BlobEntry>(
  from: { list(): AsyncIterable<E>; read: Blobs['read'] },
  to: Pick<Blobs, 'list' | 'put'>,
  { progress, damaged }: { progress?: (count: number) => void; damaged?: (entry: E) => void } = {},
): Promise<number> {
  const there = new Map<string, number>();
  for await (const { key, size } of to.list()) there.set(key, size);
  let count = 0;
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const copy = async (entry: E) => {
    const bytes = await from.read(entry.key);
    if (!bytes) return;
    const readable = damaged ? readableBytes(bytes, entry, () => damaged(entry)) : bytes;
    await to.put(entry.key, readable).catch((error: unknown) => {
      if (!(error instanceof BlobRemoved)) throw error;
    });
  };
  for await (const entry of from.list()) {
    count++;
    progress?.(count);
    if (there.get(entry.key) === entry.size) continue;
    if (running.size >= atOnce) await Promise.race(running);
    if (failures.length > 0) break;
    // A copy may fail at any time, for example while the next blobs are listed. So its failure is caught here, and thrown
    // later.
    const one: Promise<void> = copy(entry)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => running.delete(one));
    running.add(one);
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
  return count;
}
