import { randomUUID } from 'node:crypto';
import type { Collection, Db, Document } from 'mongodb';
import { failedWrites } from '../store/failed-writes.ts';
import type { Change, CounterFields, CounterWrite, Intent, Plan, RowFields, TargetFields } from './plan.ts';
import { mergeCounters, type Settler, type Step, trustMs } from './settler.ts';
import { goneRow } from './write-row.ts';

/** A change that tells no event and only puts rows; its target exists, or is made where `make` is given. */
export interface ManyChange extends Pick<Change, 'target' | 'set' | 'counters'> {
  make?: Document;
  rows: readonly (Change['rows'][number] & { put: Document })[];
}

/**
 * Makes many changes as `Settler.change` makes one, with the same steps and guarantees, each step one write for all of
 * them. Tells for each whether it was made. All targets are in one collection, all rows in one, all counters in one.
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
  await announceAll(db, planned, now);
  await onStep('announced');
  await targets.bulkWrite(
    planned.map(({ change: { target, set }, plan }) => ({
      updateOne: {
        filter: { _id: target.id, rev: target.rev, unsettled: { $exists: false } },
        update: { $set: { ...set, unsettled: plan, unsettledAt: now, rev: plan.rev, lastOp: plan.op } },
      },
    })),
    { ordered: false },
  );
  const committed = await committedOf(targets, planned);
  const made = planned.filter(({ plan }) => committed.has(plan.op));
  await withdrawAll(
    db,
    planned.filter(({ plan }) => !committed.has(plan.op)),
  );
  await onStep('committed');
  const isWhole = (await putRows(db, made, now.getTime() + trustMs)) && (await countAll(db, made, onStep));
  if (isWhole) {
    await targets.updateMany(
      { _id: { $in: made.map(({ change }) => change.target.id) }, 'unsettled.op': { $in: [...committed] } },
      { $unset: { unsettled: '', unsettledAt: '' } },
    );
    await onStep('settled');
  } else {
    // Somebody was in between, or it took long: one by one, each looks at what there is.
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

/** Every counter gets its intents in one write. Rejects when a counter was erased meanwhile. */
async function announceAll(db: Db, planned: readonly Planned[], at: Date): Promise<void> {
  const intents = new Map<string, Intent[]>();
  for (const { change, plan } of planned) {
    const { in: name, id: target, rev: fromRev } = change.target;
    for (const { id } of plan.counters) {
      intents.set(id, [...(intents.get(id) ?? []), { op: plan.op, in: name, target, fromRev, at }]);
    }
  }
  const counters = countersOf(db, planned);
  if (!counters) return;
  const ids = [...intents.keys()];
  const found = await counters.find({ _id: { $in: ids } }, { projection: { _id: 1 } }).toArray();
  const known = new Set(found.map(({ _id }) => _id));
  await failedWrites(
    counters,
    ids.filter((id) => !known.has(id)).map((_id) => ({ _id, pending: [] })),
  );
  const { matchedCount } = await counters.bulkWrite(
    [...intents].map(([_id, own]) => ({
      updateOne: { filter: { _id }, update: { $push: { pending: { $each: own } } } },
    })),
    { ordered: false },
  );
  // A change that commits without its intent would never be counted.
  if (matchedCount < ids.length) throw new Error('A counter was erased meanwhile.');
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

async function withdrawAll(db: Db, planned: readonly Planned[]): Promise<void> {
  const writes = planned.flatMap(({ plan }) =>
    plan.counters.map(({ id }) => ({
      updateOne: { filter: { _id: id }, update: { $pull: { pending: { op: plan.op } } } },
    })),
  );
  if (writes.length > 0) await countersOf(db, planned)?.bulkWrite(writes, { ordered: false });
}

/** Puts the rows in two writes, as `writeRow` does; `false` when some were not put, or when it is too late to. */
async function putRows(db: Db, planned: readonly Planned[], until: number): Promise<boolean> {
  const rows = planned.flatMap(({ change, plan }) => change.rows.map((row) => ({ row, rev: plan.rev })));
  const [first] = rows;
  if (!first) return true;
  const stored = db.collection<RowFields>(first.row.in);
  if (Date.now() > until) return false;
  await failedWrites(
    stored,
    rows.map(({ row }) => ({ _id: row.id, ...goneRow(), rev: -1 })),
  );
  if (Date.now() > until) return false;
  const { matchedCount } = await stored.bulkWrite(
    rows.map(({ row, rev }) => ({
      replaceOne: { filter: { _id: row.id, rev: { $lt: rev } }, replacement: { ...row.put, rev } },
    })),
    { ordered: false },
  );
  return matchedCount === rows.length;
}

/** Adds to each counter and removes its intents in one update; `false` when another has removed some of them. */
async function countAll(
  db: Db,
  planned: readonly Planned[],
  onStep: (step: Step) => void | Promise<void>,
): Promise<boolean> {
  await onStep('rows');
  const counters = countersOf(db, planned);
  if (!counters) return true;
  const sums = new Map<string, { ops: string[]; writes: CounterWrite[] }>();
  for (const { plan } of planned) {
    for (const write of plan.counters) {
      const sum = sums.get(write.id) ?? { ops: [], writes: [] };
      sum.ops.push(plan.op);
      sum.writes.push(write);
      sums.set(write.id, sum);
    }
  }
  const { matchedCount } = await counters.bulkWrite(
    [...sums].map(([_id, { ops, writes }]) => {
      const inc: Record<string, number> = {};
      for (const write of writes)
        for (const [field, by] of Object.entries(write.inc)) inc[field] = (inc[field] ?? 0) + by;
      return {
        updateOne: {
          filter: { _id, 'pending.op': { $all: ops } },
          update: { $inc: inc, $pull: { pending: { op: { $in: ops } } } } as Document,
        },
      };
    }),
    { ordered: false },
  );
  await onStep('counters');
  return matchedCount === sums.size;
}

function countersOf(db: Db, planned: readonly Planned[]): Collection<CounterFields> | undefined {
  const first = planned.flatMap(({ plan }) => plan.counters)[0];
  return first && db.collection<CounterFields>(first.in);
}
