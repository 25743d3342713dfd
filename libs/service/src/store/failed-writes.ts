import { type Collection, type Document, MongoBulkWriteError, type OptionalUnlessRequiredId } from 'mongodb';
import { mongoDeadlock } from './mongo.ts';

/** A unique key has refused the write, or it was given up to end a deadlock. */
const expected: readonly unknown[] = [11000, mongoDeadlock];

/**
 * Inserts documents, each for itself, and gives the `_id` of those that a unique key refused or that were given up to
 * end a deadlock. Nothing of these is stored. Throws for every other failure.
 */
export async function failedWrites<T extends Document & { _id: string }>(
  collection: Collection<T>,
  documents: readonly T[],
): Promise<string[]> {
  if (documents.length === 0) return [];
  try {
    await collection.insertMany(documents as unknown as OptionalUnlessRequiredId<T>[], { ordered: false });
    return [];
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const failures = [error.writeErrors].flat();
    if (failures.length === 0 || !failures.every(({ code }) => expected.includes(code))) throw error;
    return failures.flatMap(({ index }) => documents[index]?._id ?? []);
  }
}
