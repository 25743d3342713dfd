import {
  type AnyBulkWriteOperation,
  type Collection,
  type Document,
  MongoBulkWriteError,
  type OptionalUnlessRequiredId,
} from 'mongodb';
import { isMongoDeadlock, mongoDeadlock } from './mongo.ts';

/** The codes of two failures: a unique key has refused the write, or the database has aborted the write to end a deadlock. */
const expected: readonly unknown[] = [11000, mongoDeadlock];

/**
 * Inserts documents independently of each other. Returns the `_id` of each document that is not stored: a unique key refused
 * it, or the database aborted the insert to end a deadlock. Throws for every other failure.
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
    return refusalsOf(error).failures.flatMap(({ index }) => documents[index]?._id ?? []);
  }
}

/**
 * Inserts documents whose `_id` is free, independently of each other. Returns the documents whose `_id` was taken. If the
 * database aborted inserts to end a deadlock, tries them again a few times. Throws for every other failure.
 */
export async function insertAbsent<T extends Document & { _id: string }>(
  collection: Collection<T>,
  documents: readonly T[],
): Promise<T[]> {
  const taken: T[] = [];
  let left = documents;
  for (let attempt = 1; left.length > 0; attempt++) {
    try {
      await collection.insertMany(left as unknown as OptionalUnlessRequiredId<T>[], { ordered: false });
      return taken;
    } catch (error) {
      const { failures } = refusalsOf(error);
      const of = (isGivenUp: boolean) =>
        failures.flatMap(({ code, index }) =>
          (code === mongoDeadlock) === isGivenUp ? (left[index] ?? []) : [],
        );
      taken.push(...of(false));
      left = of(true);
      if (attempt === attempts && left.length > 0) throw error;
    }
  }
  return taken;
}

/**
 * Makes updates independently of each other, and returns how many matched. An update that failed with one of the `expected`
 * codes counts as not matched.
 */
export async function matchingWrites<T extends Document>(
  collection: Collection<T>,
  updates: readonly AnyBulkWriteOperation<T>[],
): Promise<number> {
  if (updates.length === 0) return 0;
  try {
    return (await collection.bulkWrite(updates, { ordered: false })).matchedCount;
  } catch (error) {
    return refusalsOf(error).matched;
  }
}

/**
 * Makes updates independently of each other, and returns how many matched. Repeats the updates that the database aborted to end
 * a deadlock. Throws for any other failure.
 */
export async function writeAll<T extends Document>(
  collection: Collection<T>,
  updates: readonly AnyBulkWriteOperation<T>[],
): Promise<number> {
  let left = updates;
  let matchedCount = 0;
  for (let attempt = 1; left.length > 0; attempt++) {
    try {
      return matchedCount + (await collection.bulkWrite(left, { ordered: false })).matchedCount;
    } catch (error) {
      const { failures, matched } = refusalsOf(error);
      matchedCount += matched;
      const givenUp = failures.filter(({ code }) => code === mongoDeadlock);
      if (givenUp.length < failures.length || attempt === attempts) throw error;
      left = givenUp.flatMap(({ index }) => left[index] ?? []);
    }
  }
  return matchedCount;
}

/**
 * How many times a write is tried if the database aborts it to end a deadlock. In each deadlock, one of the other writes
 * succeeds.
 */
const attempts = 10;

/** Makes a write, and repeats it a few times if the database aborts it to end a deadlock. The write must be safe to repeat. */
export async function despiteDeadlocks<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      if (!isMongoDeadlock(error) || attempt === attempts) throw error;
    }
  }
}

/**
 * The refused writes of a bulk. Throws the error again if any write failed for another reason. The error's own code is only the
 * code of the first failed write, so this function looks at each failed write.
 */
function refusalsOf(error: unknown): { failures: { index: number; code: unknown }[]; matched: number } {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  const failures = [error.writeErrors].flat();
  if (failures.length === 0 || !failures.every(({ code }) => expected.includes(code))) throw error;
  // This error means that no majority has confirmed the writes. They may still be rolled back, so they do not count as made.
  if (error.result.getWriteConcernError()) throw error;
  return { failures, matched: error.result.matchedCount };
}
