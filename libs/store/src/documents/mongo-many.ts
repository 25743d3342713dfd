import type { Db, Collection as MongoCollection } from 'mongodb';
import { insertAbsent, writeAll } from '../drivers/failed-writes.ts';
import type { MongoOutbox } from '../outbox/mongo-outbox.ts';
import { changeAll } from '../settle/change-all.ts';
import type { Change as SettledChange } from '../settle/plan.ts';
import type { Step } from '../settle/roll-forward.ts';
import type { Settler } from '../settle/settler.ts';
import type { AnyCollection } from './collection.ts';
import type { AnyChange, Refusal } from './documents.ts';
import { type Asked, inTurns } from './in-turns.ts';
import { type MongoReads, type MongoTarget, placeOf, targetOf } from './mongo-collection.ts';
import { keysOf } from './mongo-content.ts';

type Outcome = 'made' | Refusal;

/** A change with its target, which is a placeholder if the target is new. */
interface Begun extends Asked {
  target: MongoTarget;
}

export interface MongoManyOptions {
  db: Db;
  settler: Settler;
  outbox: MongoOutbox;
  onStep?: ((step: Step) => void | Promise<void>) | undefined;
  readsOf(of: AnyCollection): MongoReads<unknown>;
  /** Converts a change to the form that the settler takes. */
  settled(change: AnyChange, target: MongoTarget): SettledChange;
  makeOne(change: AnyChange): Promise<Outcome>;
}

/**
 * Makes many changes. Changes that do not depend on each other are made together (`changeAll`), in about ten round trips. A
 * change may get no outcome in this way, for example because another process was faster. Then `makeOne` makes the change alone,
 * and returns its outcome.
 */
export class MongoMany {
  readonly #options: MongoManyOptions;

  constructor(options: MongoManyOptions) {
    this.#options = options;
  }

  async make(changes: readonly AnyChange[]): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    for (const turn of inTurns(changes)) {
      for (const asked of Map.groupBy(turn, ({ change }) => change.in.name).values()) {
        // For a single change, `makeOne` takes fewer round trips.
        if (asked.length > 1) await this.#makeTogether(asked, outcomes);
        const left = asked.filter(({ at }) => outcomes[at] === undefined);
        for (const { at, change } of left) outcomes[at] = await this.#options.makeOne(change);
      }
    }
    return outcomes;
  }

  /**
   * Makes changes of one collection that do not depend on each other. If a change gets no outcome here, `makeOne` makes the
   * change later.
   */
  async #makeTogether(asked: readonly Asked[], outcomes: Outcome[]): Promise<void> {
    const { db, settler, outbox, onStep, readsOf, settled } = this.#options;
    const of = (asked[0] as Asked).change.in;
    const reads = readsOf(of);
    await refuse(reads, asked, outcomes);
    const left = asked.filter(({ at }) => outcomes[at] === undefined);
    const begun = await begin(reads, inOrder(left));
    await Promise.all(
      begun.map(async ({ target }) => {
        await settler.settleTarget(of.name, target);
        await outbox.makeRoom(of.name, target);
      }),
    );
    // The documents that `below` requires are looked for only now, after the placeholders and their keys are stored. So a
    // process that deletes such a document from now on finds these placeholders.
    const ready = await withoutOrphans(reads, begun);
    const made = await changeAll(
      db,
      settler,
      ready.map(({ change, target }) => settled(change, target)),
      onStep,
    );
    for (const [index, { at }] of ready.entries()) if (made[index]) outcomes[at] = 'made';
  }
}

/** Refuses new targets whose ids or unique keys are taken. */
async function refuse(
  reads: MongoReads<unknown>,
  asked: readonly Asked[],
  outcomes: Outcome[],
): Promise<void> {
  const { indexes = {} } = reads.collection;
  const unique = Object.keys(indexes).filter((index) => indexes[index]?.unique);
  const made = asked.flatMap(({ at, change: { target: id, set, below } }) =>
    typeof id === 'string' && set !== null
      ? [{ at, id, below, keys: keysOf(reads.collection, id, set) }]
      : [],
  );
  const holdersOf = async (index: string) => {
    const keys = made.flatMap((one) => one.keys[index] ?? []);
    const found = keys.length === 0 ? [] : await reads.findBy(index, keys);
    return new Map(found.map(({ _id, k }) => [k?.[index], _id]));
  };
  const [found, ...holders] = await Promise.all([
    reads.find(made.map(({ id }) => id)),
    ...unique.map(holdersOf),
  ]);
  const there = new Set(found.map(({ _id }) => _id));
  for (const { at, id, below, keys } of made) {
    const taken = unique.find((index, order) => {
      const holder = keys[index] && holders[order]?.get(keys[index]);
      return holder && holder !== id;
    });
    if (there.has(id)) outcomes[at] = 'there';
    // A change with `below` is not refused here for a taken key. The document that `below` requires may be missing too, and
    // then the refusal must be `orphan`.
    else if (taken && !below) outcomes[at] = { taken };
  }
}

/**
 * Makes the placeholders of new targets, which no read shows. Leaves out a target if another process has just made it. Keeps
 * the order of the changes.
 */
async function begin(reads: MongoReads<unknown>, asked: readonly Asked[]): Promise<Begun[]> {
  const stored = reads.stored as unknown as MongoCollection<MongoTarget>;
  const places = asked.flatMap(({ change: { target, set } }) =>
    typeof target === 'string' ? placeOf(reads.collection, target, set) : [],
  );
  const taken = await insertAbsent(stored, places);
  const targets = new Map(places.map((place) => [place._id, place]));
  if (taken.length > 0) {
    // Takes over placeholders that other processes have left behind.
    const _id = { $in: taken.map((place) => place._id) };
    const found = await stored.find({ _id, shape: { $exists: false } }).toArray();
    const leftById = new Map(found.map((place) => [place._id, place]));
    const left = places.flatMap((place) => leftById.get(place._id) ?? []);
    const keys = left.map((place) => ({
      updateOne: {
        filter: { _id: place._id, rev: place.rev, shape: { $exists: false } },
        update: { $set: { k: targets.get(place._id)?.k ?? {} } },
      },
    }));
    await writeAll(stored, keys);
    for (const place of taken) targets.delete(place._id);
    for (const place of left) targets.set(place._id, place);
  }
  return asked.flatMap(({ at, change }) => {
    const target = typeof change.target === 'string' ? targets.get(change.target) : targetOf(change.target);
    return target ? [{ at, change, target }] : [];
  });
}

/** Leaves out changes if a document that `below` requires is not there. */
async function withoutOrphans(reads: MongoReads<unknown>, begun: readonly Begun[]): Promise<Begun[]> {
  const there = new Set<string>();
  const below = begun.flatMap(({ change }) => change.below ?? []);
  for (const [index, some] of Map.groupBy(below, (one) => one.index)) {
    const keys = [...new Set(some.flatMap((one) => one.keys))];
    for (const [key] of await reads.idsBy(index, keys)) there.add(`${index} ${key}`);
  }
  return begun.filter(
    ({ change: { below } }) => below?.keys.every((key) => there.has(`${below.index} ${key}`)) ?? true,
  );
}

/**
 * Sorts changes by unique key. All processes make placeholders and commit changes in this order. So processes with the same
 * targets or keys wait for each other without a deadlock. A deadlock is possible only if processes give different keys to the
 * same targets. The database ends such a deadlock.
 */
function inOrder(asked: readonly Asked[]): Asked[] {
  const placed = asked.map((one) => {
    const { in: of, set, target } = one.change;
    const id = typeof target === 'string' ? target : target.id;
    const keys = set === null ? {} : keysOf(of, id, set);
    const unique = Object.keys(keys).find((index) => of.indexes?.[index]?.unique);
    return { one, place: unique === undefined ? id : (keys[unique] ?? id) };
  });
  return placed.sort((one, other) => (one.place < other.place ? -1 : 1)).map(({ one }) => one);
}
