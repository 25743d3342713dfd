import { clocksMs } from '@kith/base';
import type { Filter, Collection as MongoCollection } from 'mongodb';
import { despiteDeadlocks } from '../drivers/failed-writes.ts';
import type { Settler } from '../settle/settler.ts';
import { goneRow } from '../settle/write-row.ts';
import type { AnyCollection } from './collection.ts';
import type { IdRange, Stored } from './documents.ts';
import {
  between,
  contentFields,
  isThere,
  type MongoDocument,
  type MongoReads,
  type MongoTarget,
  readOf,
  targetOf,
} from './mongo-collection.ts';

/**
 * How long a document without content is kept for a target that was deleted or never made, in ms. This is far longer than any
 * process works on a change, even on machines whose clocks differ.
 */
const emptyMs = clocksMs + 10 * 60_000;
/** A filter for a target that holds no events (its outbox is empty) and has no unsettled change. */
const isQuiet = { outboxAt: { $exists: false }, unsettled: { $exists: false } } as const;
const noContent = Object.fromEntries(contentFields.map((field) => [field, '' as const]));
/** A filter for the placeholder of a target that was never made. */
export const neverWas = { shape: { $exists: false }, lastOp: { $exists: false }, ...isQuiet } as const;
/** Number of ranges whose rows are looked for at the same time. */
const fewRanges = 10;

/** Erases documents. Sweeps up expired documents, and documents that processes left behind when they died. */
export class MongoUpkeep {
  readonly #settler: Settler;

  constructor(settler: Settler) {
    this.#settler = settler;
  }

  async erase<D>(reads: MongoReads<D>, target: Stored<D> | string): Promise<boolean> {
    const stored = targetsOf(reads);
    const read = typeof target === 'string' ? await stored.findOne({ _id: target }) : targetOf(target);
    if (!read) return true;
    await this.#settler.settleTarget(reads.collection.name, read);
    // The filter excludes a target with events in its outbox, because the events of stored changes have to be published.
    const { deletedCount } = await stored.deleteOne({
      _id: read._id,
      rev: read.rev,
      ...isQuiet,
    } as Filter<MongoTarget>);
    return deletedCount === 1;
  }

  async eraseAll<D>(reads: MongoReads<D>, targets: readonly Stored<D>[]): Promise<number> {
    // Every replica sorts by id, so replicas that erase the same targets hardly ever deadlock.
    const read = targets.map(targetOf);
    const inOrder = read.toSorted((one, other) => (one._id < other._id ? -1 : 1));
    const deletes = inOrder.map(({ _id, rev }) => ({
      deleteOne: { filter: { _id, rev, ...isQuiet } as Filter<MongoTarget> },
    }));
    if (deletes.length === 0) return 0;
    const stored = targetsOf(reads);
    return (await despiteDeadlocks(() => stored.bulkWrite(deletes, { ordered: false }))).deletedCount;
  }

  async remaining<D>(
    reads: MongoReads<D>,
    index: string,
    keys: readonly string[],
    limit: number,
  ): Promise<Stored<D>[]> {
    const { collection } = reads;
    for (;;) {
      const found = (await reads.some(index, keys, limit)) as MongoTarget[];
      const empty = found.filter(({ shape }) => shape === undefined).map(({ _id }) => _id);
      if (empty.length === 0) {
        await Promise.all(found.map((one) => this.#settler.settleTarget(collection.name, one)));
        return found.map((one) => readOf(collection, one));
      }
      await fence(targetsOf(reads), empty);
    }
  }

  async clearRows(
    { stored }: MongoReads<unknown>,
    ranges: readonly IdRange[],
    limit: number,
  ): Promise<readonly IdRange[]> {
    const { ids, rest } = await firstRows(stored, ranges, limit);
    // The document of each row stays, with its `rev`. Late writers of earlier changes compare their version with this `rev`,
    // and see that they are late.
    if (ids.length > 0)
      await stored.updateMany({ _id: { $in: ids } }, { $set: goneRow(), $unset: noContent });
    return rest;
  }

  /** @param counters The names of all collections whose documents may hold intents (`Intent`). */
  async sweep(all: readonly MongoReads<unknown>[], counters: readonly string[]): Promise<void> {
    const failures: unknown[] = [];
    const failed = (error: unknown) => failures.push(error);
    const targets = all.flatMap(({ collection: { kind, name } }) => (kind === 'target' ? name : []));
    await this.#settler.sweep({ targets, counters }).catch(failed);
    for (const reads of all) {
      const { collection } = reads;
      const stored = targetsOf(reads);
      if (collection.expires) await expire(collection, stored).catch(failed);
      if (collection.kind === 'target') await sweepEmpty(stored).catch(failed);
    }
    if (failures.length > 0) throw new AggregateError(failures, 'The sweep is incomplete.');
  }
}

function targetsOf<D>({ stored }: MongoReads<D>): MongoCollection<MongoTarget> {
  return stored as unknown as MongoCollection<MongoTarget>;
}

/**
 * The ids of the first rows in some ranges, and the ranges behind these rows. The next search has to use the ranges behind
 * these rows: a search from the start would read the documents of all rows that were removed before.
 */
async function firstRows(
  stored: MongoCollection<MongoDocument>,
  ranges: readonly IdRange[],
  limit: number,
): Promise<{ ids: string[]; rest: readonly IdRange[] }> {
  const options = { projection: { _id: 1 }, sort: { _id: 1 }, limit, batchSize: limit } as const;
  const ids: string[] = [];
  for (let from = 0; from < ranges.length; from += fewRanges) {
    const some = ranges.slice(from, from + fewRanges);
    const found = await Promise.all(
      some.map(async (range) => {
        const filter = { _id: between(range), ...isThere } as Filter<MongoDocument>;
        return { range, rows: await stored.find(filter, options).toArray() };
      }),
    );
    for (const [at, { range, rows }] of found.entries()) {
      ids.push(...rows.slice(0, limit - ids.length).map(({ _id }) => _id));
      const above = ids[limit - 1];
      if (above !== undefined)
        return { ids, rest: [{ above, below: range.below }, ...ranges.slice(from + at + 1)] };
    }
  }
  return { ids, rest: [] };
}

/**
 * Prevents the commits of targets that are being made. A target is not affected if it commits before this call reaches it. Such
 * a target has content by then, so the next search returns it.
 */
async function fence(stored: MongoCollection<MongoTarget>, ids: readonly string[]): Promise<void> {
  const _id = { $in: [...ids] };
  // Removes the keys, so that no search finds the placeholder again. The placeholder itself can stay for a while, because it
  // may still hold the last events of an earlier target with this id.
  await stored.updateMany({ _id, shape: { $exists: false } } as Filter<MongoTarget>, {
    $inc: { rev: 1 },
    $unset: { k: '' },
  });
  // The placeholder of a target that was never made is deleted, because nothing needs it any more, and it names the user.
  await stored.deleteMany({ _id, ...neverWas } as Filter<MongoTarget>);
}

/**
 * Deletes expired documents. An expired target first loses its content, but only if its outbox is empty and it is settled
 * (`isQuiet`). Its document stays, and `sweepEmpty` deletes it later.
 */
async function expire({ kind }: AnyCollection, stored: MongoCollection<MongoTarget>): Promise<void> {
  const old = { expiresAt: { $gt: new Date(0), $lt: new Date() } };
  if (kind !== 'target') return void (await stored.deleteMany(old));
  await stored.updateMany({ ...old, ...isQuiet } as Filter<MongoTarget>, {
    $set: { emptyAt: new Date() },
    $unset: { ...noContent, lastOp: '' },
    $inc: { rev: 1 },
  });
}

/** Deletes targets that have been without content for long. */
async function sweepEmpty(stored: MongoCollection<MongoTarget>): Promise<void> {
  const emptyAt = { $gt: new Date(0), $lt: new Date(Date.now() - emptyMs) };
  await stored.deleteMany({ emptyAt, ...isQuiet } as Filter<MongoTarget>);
}
