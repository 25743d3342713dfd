import { type BlobEntry, BlobRemoved, type Blobs } from './blobs.ts';
import { type BlobFaults, readRecorded } from './read-recorded.ts';

/** Number of copies that are made at the same time. */
const atOnce = 4;

/**
 * Copies all blobs to another store, except blobs that the other store already has with the same size. A blob that is removed
 * meanwhile is not copied. With `faults`, copies the readable bytes of a damaged blob, and reports damaged and missing blobs.
 * Resolves to the number of blobs in `from`.
 */
export async function copyBlobs<E extends BlobEntry>(
  from: { list(): AsyncIterable<E>; read: Blobs['read'] },
  to: Pick<Blobs, 'list' | 'put'>,
  { progress, faults }: { progress?: (count: number) => void; faults?: BlobFaults<E> } = {},
): Promise<number> {
  const wasEmpty = await isEmpty(to);
  let count = 0;
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const copy = async (entry: E) => {
    if (!wasEmpty && (await hasBlob(to, entry))) return;
    const bytes = faults ? await readRecorded(from, entry, faults) : await from.read(entry.key);
    if (!bytes) return;
    await to.put(entry.key, bytes).catch((error: unknown) => {
      if (!(error instanceof BlobRemoved)) throw error;
    });
  };
  for await (const entry of from.list()) {
    count++;
    progress?.(count);
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

/** Whether the store has no blobs whose keys begin with `prefix`. */
export async function isEmpty(blobs: Pick<Blobs, 'list'>, prefix?: string): Promise<boolean> {
  for await (const _ of blobs.list(prefix)) return false;
  return true;
}

/**
 * Whether the store has a blob with this key, and with this size if one is given. Lists only the folder of the blob, because a
 * list of all blobs may need more memory than there is.
 */
export async function hasBlob(
  blobs: Pick<Blobs, 'list'>,
  { key, size }: { key: string; size?: number },
): Promise<boolean> {
  const folder = key.slice(0, key.lastIndexOf('/') + 1);
  for await (const one of blobs.list(folder))
    if (one.key === key && (size === undefined || one.size === size)) return true;
  return false;
}
