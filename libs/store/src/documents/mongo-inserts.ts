import { randomUUID } from 'node:crypto';
import type { Collection as MongoCollection } from 'mongodb';
import { failedWrites } from '../drivers/failed-writes.ts';
import { outboxFields } from '../outbox/mongo-outbox.ts';
import type { AnyCollection } from './collection.ts';
import type { AnyChange, Refusal, Stored } from './documents.ts';
import type { MongoReads, MongoTarget } from './mongo-collection.ts';
import { contentOf } from './mongo-content.ts';

/** A change that creates a target and writes no rows or counters. One insert stores the target with its events. */
export type Insert = AnyChange & { target: string };

/**
 * The outcome of an insert. `place` means that a document without content, such as a placeholder, already has this id. The
 * insert then has to be repeated as an ordinary change, which takes that document over.
 */
export type Inserted = 'made' | 'place' | Refusal;

/** Maximum number of documents per write. */
const most = 1_000;
/**
 * How many writes in a row may store nothing before `insertAll` fails. A write stores nothing if concurrent writes take its
 * keys. If those writes are then rolled back too, the keys are free. So the write is tried again.
 */
const attempts = 10;

export function isInsert(change: AnyChange): change is Insert {
  const { target, set, below, rows = [], counters = [] } = change;
  return typeof target === 'string' && set !== null && !below && rows.length === 0 && counters.length === 0;
}

/**
 * Splits inserts, in order, into steps. One write can make all inserts of a step. They are in one collection, and no two of
 * them have an id or a unique key in common.
 */
export function* inSteps(inserts: readonly Insert[]): Generator<Insert[]> {
  let step: Insert[] = [];
  let taken = new Set<string>();
  for (const insert of inserts) {
    const own = [insert.target, ...newKeysOf(insert)];
    const fits = step[0]?.in === insert.in && step.length < most && !own.some((key) => taken.has(key));
    if (!fits && step.length > 0) {
      yield step;
      step = [];
      taken = new Set();
    }
    step.push(insert);
    for (const key of own) taken.add(key);
  }
  if (step.length > 0) yield step;
}

/** The unique keys that a change adds to its target. */
export function newKeysOf({ in: of, target, set }: AnyChange): string[] {
  if (set === null) return [];
  const id = typeof target === 'string' ? target : target.id;
  const read = typeof target === 'string' ? undefined : (target as Stored<unknown> & { stored: MongoTarget });
  return Object.entries(of.indexes ?? {}).flatMap(([index, { key: keyOf, unique }]) => {
    const key = unique ? keyOf(set, id) : null;
    return key === null || read?.stored.k?.[index] === key ? [] : [`${of.name} ${index} ${key}`];
  });
}

/**
 * Inserts targets together, and returns the outcome of each, in order. If an id or key is taken, only the insert that needs it
 * is refused. Throws for any other failure. When this throws, some targets may already be stored.
 */
export async function insertAll(reads: MongoReads<unknown>, inserts: readonly Insert[]): Promise<Inserted[]> {
  const of: AnyCollection = reads.collection;
  // Marks the inserts of this call. If a document was stored but the database's answer was lost, this call recognises the
  // document by the mark.
  const lastOp = randomUUID();
  const documents = new Map(
    inserts.map(({ target, set, events = [] }) => {
      const content = { ...contentOf(of, target, set), ...(events.length > 0 && outboxFields(events)) };
      // The new `rev` is higher than that of any earlier document with this id, for the reason given at `placeOf`.
      return [target, { _id: target, rev: Date.now(), lastOp, ...content } as MongoTarget] as const;
    }),
  );
  const outcomes = new Map<string, Inserted>();
  const stored = reads.stored as unknown as MongoCollection<MongoTarget>;
  for (let left = [...documents.values()], inVain = 0; left.length > 0; ) {
    if (inVain === attempts)
      throw new Error(
        `Inserts into ${of.name} failed again and again, although their ids and keys were not taken.`,
      );
    const failed = new Set(await failedWrites(stored, left));
    for (const { _id } of left) if (!failed.has(_id)) outcomes.set(_id, 'made');
    const refused = left.filter(({ _id }) => failed.has(_id));
    for (const [id, reason] of await reasonsOf(reads, refused)) outcomes.set(id, reason);
    const before = left.length;
    left = refused.filter(({ _id }) => !outcomes.has(_id));
    inVain = left.length === before ? inVain + 1 : 0;
  }
  return inserts.map(({ target }) => outcomes.get(target) ?? 'made');
}

/**
 * Why documents were refused. If a concurrent write blocked a document only for a moment, the result leaves this document out,
 * because it can be inserted again.
 */
async function reasonsOf(
  reads: MongoReads<unknown>,
  refused: readonly MongoTarget[],
): Promise<Map<string, Inserted>> {
  const reasons = new Map<string, Inserted>();
  if (refused.length === 0) return reasons;
  const { indexes = {} } = reads.collection;
  const ids = refused.map(({ _id }) => _id);
  const there = await reads.stored
    .find({ _id: { $in: ids } }, { projection: { shape: 1, lastOp: 1 }, batchSize: ids.length })
    .toArray();
  for (const one of there as MongoTarget[]) {
    const isOwn = one.lastOp === refused[0]?.lastOp;
    reasons.set(one._id, isOwn ? 'made' : one.shape === undefined ? 'place' : 'there');
  }
  const others = refused.filter(({ _id }) => !reasons.has(_id));
  for (const index of Object.keys(indexes).filter((name) => indexes[name]?.unique)) {
    const keys = others.flatMap(({ k }) => k?.[index] ?? []);
    if (keys.length === 0) continue;
    const holders = new Set((await reads.findBy(index, keys)).map(({ k }) => k?.[index]));
    for (const { _id, k } of others) {
      if (k?.[index] !== undefined && holders.has(k[index]) && !reasons.has(_id))
        reasons.set(_id, { taken: index });
    }
  }
  return reasons;
}
