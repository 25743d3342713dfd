import {
  type Document,
  type Filter,
  type Collection as MongoCollection,
  MongoNetworkError,
  MongoServerError,
} from 'mongodb';

export interface BatchOptions {
  /** Most documents that can be found, where it is known; else what is hardly ever exceeded. */
  batchSize: number;
  limit?: number;
  skip?: number;
  sort?: Document;
  projection?: Document;
}

/** The batch size for one document per key, and one more: a full batch does not say that nothing follows. */
export function batchFor(keys: readonly string[]): number {
  return Math.max(keys.length + 1, 101);
}

interface Answer<T> {
  cursor: { id: unknown; firstBatch: T[] };
}

/**
 * Finds documents that come in one batch, by the command itself: the driver's cursor takes half as much time again, for batches that
 * do not follow. Where they do, and where the server has gone away, the cursor reads: it knows how to go on and to try again.
 */
export async function readBatch<T extends Document>(
  stored: MongoCollection<T>,
  filter: Filter<T>,
  options: BatchOptions,
): Promise<T[]> {
  const { db, collectionName, readConcern } = stored;
  try {
    const command = { find: collectionName, filter, ...options, readConcern };
    const { cursor } = (await db.command(command)) as unknown as Answer<T>;
    // A long, as a number where it fits into one.
    if (Number(cursor.id) === 0) return cursor.firstBatch;
    await db.command({ killCursors: collectionName, cursors: [cursor.id] });
  } catch (error) {
    if (!(error instanceof MongoNetworkError || error instanceof MongoServerError)) throw error;
  }
  return stored.find(filter, options).toArray() as Promise<unknown> as Promise<T[]>;
}
