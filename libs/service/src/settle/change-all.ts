import { randomInt, randomUUID } from 'node:crypto';
import type { Collection, Db, Document } from 'mongodb';
import { despiteDeadlocks, failedWrites, matchingWrites } from '../store/failed-writes.ts';
import type { Change, CounterFields, Intent, Plan, RowFields, TargetFields } from './plan.ts';
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
  await announceAll(db, settler, planned, now);
  await onStep('announced');
  const matched = await matchingWrites(
    targets,
    planned.map(({ change: { target, set }, plan }) => ({
      updateOne: {
        filter: { _id: target.id, rev: target.rev, unsettled: { $exists: false } },
        update: { $set: { ...set, unsettled: plan, unsettledAt: now, rev: plan.rev, lastOp: plan.op } },
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

/** Every counter gets its intents in one write. Rejects when a counter was erased meanwhile, or gets no room. */
async function announceAll(db: Db, settler: Settler, planned: readonly Planned[], at: Date): Promise<void> {
  const intents = new Map<string, Intent[]>();
  for (const { change, plan } of planned) {
    const { in: name, id: target, rev: fromRev } = change.target;
    for (const { id } of plan.counters) {
      intents.set(id, [...(intents.get(id) ?? []), { op: plan.op, in: name, target, fromRev, at }]);
    }
  }
  const counters = countersOf(db, planned);
  if (!counters) return;
  const all = inOrder(intents);
  const ids = all.map(([id]) => id);
  await settler.makeRoom(counters.collectionName, ids);
  const found = await counters.find({ _id: { $in: ids } }, { projection: { _id: 1 } }).toArray();
  const known = new Set(found.map(({ _id }) => _id));
  const refused = await failedWrites(
    counters,
    all.flatMap(([_id, pending]) => (known.has(_id) ? [] : [{ _id, pending }])),
  );
  const there = [...known, ...refused].sort();
  if (there.length === 0) return;
  const { matchedCount } = await counters.bulkWrite(
    there.map((_id) => ({
      updateOne: { filter: { _id }, update: { $push: { pending: { $each: intents.get(_id) ?? [] } } } },
    })),
    { ordered: false },
  );
  // A change that commits without its intent would never be counted.
  if (matchedCount < there.length) throw new Error('A counter was erased meanwhile.');
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

/** Only to be tidy: without a commit an intent counts for nothing. */
async function withdrawAll(db: Db, planned: readonly Planned[]): Promise<void> {
  const counters = countersOf(db, planned);
  if (!counters) return;
  await matchingWrites(
    counters,
    inOrder(countsOf(planned)).map(([_id, { ops }]) => ({
      updateOne: { filter: { _id }, update: { $pull: { pending: { op: { $in: ops } } } } },
    })),
  );
}

/**
 * Puts the rows as `writeRow` does: first hidden, then shown; `false` when some were not put, or when it is too late to.
 * What a place is taken with holds the row already, so that one update shows them all. It is told from everybody else's
 * by its `rev`: below any other, and of this call alone.
 */
async function putRows(db: Db, planned: readonly Planned[], until: number): Promise<boolean> {
  const rows = planned.flatMap(({ change, plan }) => change.rows.map((row) => ({ ...row, rev: plan.rev })));
  const [first] = rows;
  if (!first) return true;
  const stored = db.collection<RowFields>(first.in);
  const hidden = -randomInt(2, 2 ** 48 - 1);
  if (Date.now() > until) return false;
  const taken = new Set(
    await failedWrites(
      stored,
      rows.map(({ id, put }) => ({ ...put, _id: id, ...goneRow(), rev: hidden })),
    ),
  );
  if (Date.now() > until) return false;
  const replaced = await matchingWrites(
    stored,
    rows.flatMap(({ id, put, rev }) =>
      taken.has(id)
        ? [{ replaceOne: { filter: { _id: id, rev: { $lt: rev } }, replacement: { ...put, rev } } }]
        : [],
    ),
  );
  const own = Map.groupBy(
    rows.filter(({ id }) => !taken.has(id)),
    ({ rev }) => rev,
  );
  let shown = 0;
  for (const [rev, some] of own) {
    const filter = { _id: { $in: some.map(({ id }) => id) }, rev: hidden };
    const update = { $set: { rev }, $unset: { gone: '' as const, expireAt: '' as const } };
    shown += (await despiteDeadlocks(() => stored.updateMany(filter, update))).matchedCount;
  }
  return replaced + shown === rows.length;
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
  const sums = countsOf(planned);
  const matched = await matchingWrites(
    counters,
    inOrder(sums).map(([_id, { ops, inc }]) => {
      const update: Document = { $inc: inc, $pull: { pending: { op: { $in: ops } } } };
      return { updateOne: { filter: { _id, 'pending.op': { $all: ops } }, update } };
    }),
  );
  await onStep('counters');
  return matched === sums.size;
}

/** In one order in every process: writes of many that are in another's lists too wait for them, and not in a ring. */
function inOrder<T>(byId: ReadonlyMap<string, T>): [string, T][] {
  return [...byId].sort(([one], [other]) => (one < other ? -1 : 1));
}

/** What changes add to each counter. */
function countsOf(planned: readonly Planned[]): Map<string, { ops: string[]; inc: Record<string, number> }> {
  const sums = new Map<string, { ops: string[]; inc: Record<string, number> }>();
  for (const { plan } of planned) {
    for (const { id, inc } of plan.counters) {
      const sum = sums.get(id) ?? { ops: [], inc: {} };
      sum.ops.push(plan.op);
      for (const [field, by] of Object.entries(inc)) sum.inc[field] = (sum.inc[field] ?? 0) + by;
      sums.set(id, sum);
    }
  }
  return sums;
}

function countersOf(db: Db, planned: readonly Planned[]): Collection<CounterFields> | undefined {
  const first = planned.flatMap(({ plan }) => plan.counters)[0];
  return first && db.collection<CounterFields>(first.in);
}
