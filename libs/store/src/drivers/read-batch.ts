import {
  type Document,
  type Filter,
  type Collection as MongoCollection,
  MongoNetworkError,
  MongoServerError,
} from 'mongodb';

export interface BatchOptions {
  /** Maximum number of documents that can be found. If the maximum is not known, use a number that is hardly ever exceeded. */
  batchSize: number;
  limit?: number;
  skip?: number;
  sort?: Document;
  projection?: Document;
}

/**
 * The batch size for reading one document per key, at least 101. It is larger than the number of keys, because a full batch
 * does not show whether more documents follow.
 */
export function batchFor(keys: readonly string[]): number {
  return Math.max(keys.length + 1, 101);
}

interface Answer<T> {
  cursor: { id: unknown; firstBatch: T[] };
}

/**
 * Finds documents that fit into one batch. Runs the `find` command directly. The driver's cursor is made for reading further
 * batches, and takes one and a half times as long. If there are further batches, or the command fails, a cursor reads
 * everything instead, because a cursor can continue and retry.
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
    // The id is a BSON long. If the id fits into a number, the driver returns it as a number.
    if (Number(cursor.id) === 0) return cursor.firstBatch;
    await db.command({ killCursors: collectionName, cursors: [cursor.id] });
  } catch (error) {
    if (!(error instanceof MongoNetworkError || error instanceof MongoServerError)) throw error;
  }
  return stored.find(filter, options).toArray() as Promise<unknown> as Promise<T[]>;
}
