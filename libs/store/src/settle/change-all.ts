import { randomInt, randomUUID } from 'node:crypto';
import type { AnyBulkWriteOperation, Collection, Db, Document } from 'mongodb';
import { despiteDeadlocks, failedWrites, matchingWrites, writeAll } from '../drivers/failed-writes.ts';
import type { Change, CounterFields, Intent, Plan, RowFields, RowWrite, TargetFields } from './plan.ts';
import { type Step, trustMs } from './roll-forward.ts';
import { commitOf, mergeCounters, type Settler } from './settler.ts';
import { goneRow } from './write-row.ts';

/** One of many changes. Its target exists already, or is created from `make`. */
export interface ManyChange extends Omit<Change, 'events'> {
  make?: Document;
  events?: Change['events'];
}

/**
 * Makes many changes with the same steps and guarantees as `Settler.change`. Each step writes all changes together. Returns for
 * each change whether it was made. A change is not made in three cases: its target has changed since it was read, another
 * change has taken a unique key, or the database aborted the change because of a deadlock. All targets are in one collection,
 * and no two changes have the same target.
 */
export async function changeAll(
  db: Db,
  settler: Settler,
  changes: readonly ManyChange[],
  onStep: (step: Step) => void | Promise<void> = () => undefined,
): Promise<boolean[]> {
  if (changes.length === 0) return [];
  const { in: name } = changes[0]!.target;
  const targets = db.collection<TargetFields>(name);
  const now = new Date();
  const planned = changes.map((change): Planned => {
    const counters = mergeCounters(change.counters);
    const plan: Plan = { op: randomUUID(), rev: change.target.rev + 1, rows: change.rows, counters };
    return { change, plan };
  });
  await failedWrites(
    targets,
    planned.flatMap(({ change: { target, make } }) => (make ? [{ ...make, _id: target.id, rev: 0 }] : [])),
  );
  await announceAll(db, settler, planned, now);
  await onStep('announced');
  const matched = await matchingWrites(
    targets,
    planned.map(({ change, plan }) => ({
      updateOne: {
        filter: { _id: change.target.id, rev: change.target.rev, unsettled: { $exists: false } },
        update: commitOf(change, plan, now),
      },
    })),
  );
  const committed =
    matched === planned.length
      ? new Set(planned.map(({ plan }) => plan.op))
      : await committedOf(targets, planned);
  const made = planned.filter(({ plan }) => committed.has(plan.op));
  await withdrawAll(
    db,
    planned.filter(({ plan }) => !committed.has(plan.op)),
  );
  await onStep('committed');
  const isWhole = (await putRows(db, made, now.getTime() + trustMs)) && (await countAll(db, made, onStep));
  if (isWhole) {
    await despiteDeadlocks(() =>
      targets.updateMany(
        { _id: { $in: made.map(({ change }) => change.target.id) }, 'unsettled.op': { $in: [...committed] } },
        { $unset: { unsettled: '', unsettledAt: '' } },
      ),
    );
    await onStep('settled');
  } else {
    // Another process interfered, or the writes took too long. So the targets are read again, and settled one by one.
    const ids = made.map(({ change }) => change.target.id);
    for (const target of await targets.find({ _id: { $in: ids } }).toArray())
      await settler.settleTarget(name, target);
  }
  return planned.map(({ plan }) => committed.has(plan.op));
}

interface Planned {
  change: ManyChange;
  plan: Plan;
}

/** What changes add to one counter. */
interface Count {
  intents: Omit<Intent, 'at'>[];
  inc: Record<string, number>;
}

/**
 * Adds all intents to their counters. Rejects if a counter was erased meanwhile, or has no room in time.
 */
async function announceAll(db: Db, settler: Settler, planned: readonly Planned[], at: Date): Promise<void> {
  for (const [name, counts] of countsOf(planned)) {
    const counters = db.collection<CounterFields>(name);
    const all = inOrder(counts).map(([_id, { intents }]) => ({
      _id,
      pending: intents.map((intent): Intent => ({ ...intent, at })),
    }));
    const ids = all.map(({ _id }) => _id);
    await settler.makeRoom(name, ids);
    const found = await counters.find({ _id: { $in: ids } }, { projection: { _id: 1 } }).toArray();
    const known = new Set(found.map(({ _id }) => _id));
    const refused = await failedWrites(
      counters,
      all.filter(({ _id }) => !known.has(_id)),
    );
    const there = new Set([...known, ...refused]);
    const pushes = all.filter(({ _id }) => there.has(_id));
    if (pushes.length === 0) continue;
    const { matchedCount } = await counters.bulkWrite(
      pushes.map(({ _id, pending }) => ({
        updateOne: { filter: { _id }, update: { $push: { pending: { $each: pending } } } },
      })),
      { ordered: false },
    );
    // A change that commits without its intent would never be counted.
    if (matchedCount < pushes.length) throw new Error('A counter was erased meanwhile.');
  }
}

async function committedOf(
  targets: Collection<TargetFields>,
  planned: readonly Planned[],
): Promise<Set<string>> {
  const ids = planned.map(({ change }) => change.target.id);
  const found = await targets.find({ _id: { $in: ids } }, { projection: { lastOp: 1 } }).toArray();
  const ops = new Map(found.map(({ _id, lastOp }) => [_id, lastOp]));
  return new Set(
    planned.flatMap(({ change, plan }) => (ops.get(change.target.id) === plan.op ? [plan.op] : [])),
  );
}

/**
 * Removes the intents of changes that were not made. This is only tidying up, because an intent without a commit has no effect.
 */
async function withdrawAll(db: Db, planned: readonly Planned[]): Promise<void> {
  for (const [name, counts] of countsOf(planned)) {
    await matchingWrites(
      db.collection<CounterFields>(name),
      inOrder(counts).map(([_id, { intents }]) => ({
        updateOne: { filter: { _id }, update: { $pull: { pending: { op: { $in: opsOf(intents) } } } } },
      })),
    );
  }
}

/** Writes all rows. Returns `false` if some rows were not written, or if it is too late to write them. */
async function putRows(db: Db, planned: readonly Planned[], until: number): Promise<boolean> {
  const rows = planned.flatMap(({ change, plan }) => change.rows.map((row) => ({ ...row, rev: plan.rev })));
  const written = [...Map.groupBy(rows, (row) => row.in)].map(([name, some]) =>
    putRowsIn(db.collection<RowFields>(name), some, until),
  );
  return !(await Promise.all(written)).includes(false);
}

/**
 * Writes rows of one collection, with the same result as `writeRow`. A new row is first inserted as a hidden document, and then
 * shown. The hidden document has the row's content already, so a few updates can show all rows. Its `rev` is a random negative
 * number, lower than the `rev` of any shown row. Each call uses another number, so the call recognises the documents that it
 * has hidden. Lists do not show hidden documents, because these have no `shape`.
 */
async function putRowsIn(
  stored: Collection<RowFields>,
  rows: readonly (RowWrite & { rev: number })[],
  until: number,
): Promise<boolean> {
  const hidden = -randomInt(2, 2 ** 48 - 1);
  if (Date.now() > until) return false;
  const taken = new Set(
    await failedWrites(
      stored,
      rows.flatMap(({ id, put }) => {
        if (!put) return [];
        const { shape: _, ...content } = put;
        return [{ ...content, _id: id, ...goneRow(), rev: hidden }];
      }),
    ),
  );
  if (Date.now() > until) return false;
  const isOwn = ({ id, put }: RowWrite) => put !== null && !taken.has(id);
  const replacements = rows
    .filter((row) => !isOwn(row))
    .map(({ id, put, rev }): AnyBulkWriteOperation<RowFields> => {
      const replacement = { ...(put ?? goneRow()), rev };
      return { replaceOne: { filter: { _id: id, rev: { $lt: rev } }, replacement } };
    });
  const alike = Map.groupBy(rows.filter(isOwn), ({ rev, put }) => `${rev} ${put?.shape}`);
  const shown = [...alike.values()].map((some): AnyBulkWriteOperation<RowFields> => {
    const { rev, put } = some[0]!;
    const filter = { _id: { $in: some.map(({ id }) => id) }, rev: hidden };
    const set = { rev, ...(put?.shape !== undefined && { shape: put.shape }) };
    return { updateMany: { filter, update: { $set: set, $unset: { gone: '', expireAt: '' } } } };
  });
  return (await writeAll(stored, [...replacements, ...shown])) === rows.length;
}

/** Adds to each counter and removes its intents in one update. Returns `false` if another process has removed some intents. */
async function countAll(
  db: Db,
  planned: readonly Planned[],
  onStep: (step: Step) => void | Promise<void>,
): Promise<boolean> {
  await onStep('rows');
  let isWhole = true;
  for (const [name, counts] of countsOf(planned)) {
    const matched = await matchingWrites(
      db.collection<CounterFields>(name),
      inOrder(counts).map(([_id, { intents, inc }]) => {
        const ops = opsOf(intents);
        const update: Document = { $inc: inc, $pull: { pending: { op: { $in: ops } } } };
        return { updateOne: { filter: { _id, 'pending.op': { $all: ops } }, update } };
      }),
    );
    isWhole &&= matched === counts.size;
  }
  await onStep('counters');
  return isWhole;
}

/** Sorts by id, so that all processes write in the same order and cannot deadlock. */
function inOrder<T>(byId: ReadonlyMap<string, T>): [string, T][] {
  return [...byId].sort(([one], [other]) => (one < other ? -1 : 1));
}

/** What changes add to each counter, by collection and id. */
function countsOf(planned: readonly Planned[]): Map<string, Map<string, Count>> {
  const all = new Map<string, Map<string, Count>>();
  for (const { change, plan } of planned) {
    const { in: collection, id: target, rev: fromRev } = change.target;
    for (const { in: name, id, inc } of plan.counters) {
      const counts = all.get(name) ?? new Map<string, Count>();
      const count = counts.get(id) ?? { intents: [], inc: {} };
      count.intents.push({ op: plan.op, in: collection, target, fromRev });
      for (const [field, by] of Object.entries(inc)) count.inc[field] = (count.inc[field] ?? 0) + by;
      all.set(name, counts.set(id, count));
    }
  }
  return all;
}

function opsOf(intents: readonly { op: string }[]): string[] {
  return intents.map(({ op }) => op);
}
