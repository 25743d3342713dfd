import {
  type AnyBulkWriteOperation,
  type Collection,
  type Document,
  MongoBulkWriteError,
  type OptionalUnlessRequiredId,
} from 'mongodb';
import { isMongoDeadlock, mongoDeadlock } from './mongo.ts';

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
    return refusalsOf(error).failures.flatMap(({ index }) => documents[index]?._id ?? []);
  }
}

/**
 * Inserts documents, each for itself, where none are. Gives those whose `_id` was taken; what was given up to end a
 * deadlock is inserted again. Throws for every other failure.
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

/** Makes updates, each for itself, and tells how many matched; those that `failedWrites` bears have not. */
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
 * Makes updates, each for itself, and tells how many matched; those that were given up to end a deadlock are made again. Throws for any
 * other failure.
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

/** Times that a write is given up to end a deadlock; of those in it, one is made each time. */
const attempts = 10;

/** Makes a write that says the same when it is made again, until it is not given up to end a deadlock. */
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
 * The refused ones among the writes of a bulk; throws the error again when any entry says anything else. The error's own
 * code is that of its first entry alone, and the others may not have been stored for another reason.
 */
function refusalsOf(error: unknown): { failures: { index: number; code: unknown }[]; matched: number } {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  const failures = [error.writeErrors].flat();
  if (failures.length === 0 || !failures.every(({ code }) => expected.includes(code))) throw error;
  // What was written may be taken back: a majority has not confirmed it.
  if (error.result.getWriteConcernError()) throw error;
  return { failures, matched: error.result.matchedCount };
}
