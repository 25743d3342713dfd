import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ApiError } from '@kith/base';
import type { Collection, Db, Document } from 'mongodb';
import { isMongoDeadlock, isMongoDuplicate } from '../drivers/mongo.ts';
import { outboxUpdate } from '../outbox/mongo-outbox.ts';
import type { Change, CounterFields, CounterWrite, Intent, KeptReply, Plan, TargetFields } from './plan.ts';
import { RollForward, type Step } from './roll-forward.ts';

const refused = new WeakSet<Error>();

/**
 * Whether a unique key refused a change, or the database aborted the change because of a deadlock. In both cases, nothing of
 * the change is stored.
 */
export function isCommitRefused(error: unknown): boolean {
  return refused.has(error as Error);
}

/**
 * Thrown if another request now holds the claim. Without the claim, the answer of this change cannot be kept. So the change was
 * not made, and never will be.
 */
export class ClaimLost extends Error {}

/**
 * A counter with this many intents is full. It may hold more, because `changeAll` checks for room once and then adds many
 * intents.
 */
const mostIntents = 500;
/** A filter for a counter that has room for one more intent. */
const hasRoom = { [`pending.${mostIntents - 1}`]: { $exists: false } };
const retryMs = 50;
/** Maximum number of changes that wait for room in one process at the same time. */
const fewWaiting = 16;

/**
 * Commits a change in one document. Then settles the change, which means that it makes all further writes in other documents.
 * This works without transactions (docs/adr/0005). Steps: (1) Every counter gets an intent. (2) A compare-and-set on the
 * target's `rev` commits the change. It also stores the plan of the next steps in the target. (3) Rows are written under fixed
 * ids. (4) One update of each counter adds to the counter and removes the intent. (5) The target is marked as settled. This
 * class makes steps 1 and 2, and `RollForward` the others. If a process finds an unsettled target or an open intent, it
 * completes the change. If the change was never committed, it prevents the commit and removes the intent. So a process may die
 * at any point. A change that was acknowledged is stored completely. A change that was not acknowledged is either stored
 * completely or not at all.
 */
export class Settler {
  readonly #db: Db;
  readonly #onStep: (step: Step) => void | Promise<void>;
  readonly #now: () => number;
  readonly #patienceMs: number;
  readonly #forward: RollForward;
  /**
   * The changes that this process makes. While one call works on a change, the other calls of this process do not settle it.
   */
  readonly #making = new Set<string>();
  #waitingForRoom = 0;

  /**
   * @param options.now Returns the Unix time in ms.
   * @param options.patienceMs How long a change waits for room among a counter's intents, in ms. The caller must wait longer
   * than this for the change.
   */
  constructor(
    db: Db,
    options: {
      onStep?: (step: Step) => void | Promise<void>;
      now?: () => number;
      patienceMs?: number;
    } = {},
  ) {
    this.#db = db;
    this.#onStep = options.onStep ?? (() => undefined);
    this.#now = options.now ?? (() => Date.now());
    this.#patienceMs = options.patienceMs ?? 2_000;
    this.#forward = new RollForward({ db, onStep: this.#onStep, now: this.#now, making: this.#making });
  }

  /**
   * Makes a change. Returns `false` if the target has changed since it was read. Throws `gateway/unavailable` if too many
   * changes of a counter are under way, and `ClaimLost` if the answer's claim is lost. In both cases nothing was done. If
   * `isCommitRefused` is true for the error, nothing is stored either. After any other error, the change may have been made,
   * completely or not at all.
   */
  async change(change: Change): Promise<boolean> {
    const { target, rows, reply } = change;
    const counters = mergeCounters(change.counters);
    for (const until = performance.now() + this.#patienceMs; ; ) {
      const plan: Plan = {
        ...{ op: randomUUID(), rev: target.rev + 1, rows, counters },
        ...(reply && { reply }),
      };
      this.#making.add(plan.op);
      try {
        return await this.#make(change, plan);
      } catch (error) {
        if (!(error instanceof NotAnnounced)) throw error;
        // Some counters have not taken the intent. But the driver may have sent the intent twice, and the first copy may still
        // arrive. If this copy arrived after the change was counted, the change could be counted twice. So the change is never
        // committed under this `op`. The next attempt has a new `op`.
        await Promise.all(error.counters.map((counter) => this.#provide(counter, until)));
      } finally {
        this.#making.delete(plan.op);
      }
    }
  }

  async #make(change: Change, plan: Plan): Promise<boolean> {
    const { target } = change;
    const { counters, reply } = plan;
    // The documents that get an intent before the change commits.
    const announced = reply ? [...counters, reply] : counters;
    await this.#announceAll(announced, plan.op, target);
    await this.#onStep('announced');
    const now = new Date(this.#now());
    const commit = this.#targets(target.in).updateOne(
      { _id: target.id, rev: target.rev, unsettled: { $exists: false } },
      commitOf(change, plan, now),
    );
    const { matchedCount } = await commit.catch(async (error: unknown) => {
      // A unique key refused the commit, or the database aborted the commit because of a deadlock. Nothing of the change is or
      // will be stored.
      if (!isMongoDuplicate(error) && !isMongoDeadlock(error)) throw error;
      await Promise.allSettled(announced.map((one) => this.#forward.withdraw(one, plan.op)));
      refused.add(error as Error);
      throw error;
    });
    if (matchedCount === 0 && !(await this.#hasCommitted(target, plan.op))) {
      await Promise.all(announced.map((one) => this.#forward.withdraw(one, plan.op)));
      return false;
    }
    await this.#onStep('committed');
    if (follows(plan)) await this.#forward.run(target, plan.op, { plan, readAt: now.getTime() });
    return true;
  }

  // This method and the next three are described in `RollForward`.
  settleTarget(collection: string, target: TargetFields): Promise<void> {
    return this.#forward.settleTarget(collection, target);
  }

  settleCounter(collection: string, counter: CounterFields): Promise<boolean> {
    return this.#forward.settleCounter(collection, counter);
  }

  settleReply(collection: string, reply: CounterFields, how: { stop: boolean }): Promise<boolean> {
    return this.#forward.settleReply(collection, reply, how);
  }

  sweep(collections: { targets: readonly string[]; counters: readonly string[] }): Promise<void> {
    return this.#forward.sweep(collections);
  }

  /**
   * Waits until counters have room for further intents. Throws `gateway/unavailable` if they do not all have room in time, or
   * if too many changes of this process are already waiting.
   */
  async makeRoom(
    collection: string,
    ids: readonly string[],
    until = performance.now() + this.#patienceMs,
  ): Promise<void> {
    const findFull = () => {
      const full = { _id: { $in: [...ids] }, [`pending.${mostIntents - 1}`]: { $exists: true } };
      return this.#counters(collection).find(full).toArray();
    };
    let counters = await findFull();
    if (counters.length === 0) return;
    if (this.#waitingForRoom >= fewWaiting) throw noRoom();
    this.#waitingForRoom++;
    try {
      for (; counters.length > 0; counters = await findFull()) {
        if (performance.now() > until) throw noRoom();
        const settled = await Promise.all(counters.map((counter) => this.settleCounter(collection, counter)));
        if (!settled.includes(true)) await pause(retryMs);
      }
    } finally {
      this.#waitingForRoom--;
    }
  }

  async #announceAll(
    counters: readonly (CounterWrite | KeptReply)[],
    op: string,
    target: Change['target'],
  ): Promise<void> {
    const intent = { op, in: target.in, target: target.id, fromRev: target.rev, at: new Date(this.#now()) };
    const announced = await Promise.allSettled(counters.map((counter) => this.#announce(counter, intent)));
    const failed = announced.find((result) => result.status === 'rejected');
    const untaken = counters.filter((_, index) => {
      const result = announced[index];
      return result?.status === 'fulfilled' && !result.value;
    });
    if (!failed && untaken.length === 0) return;
    // A failure does not matter here. An intent without a commit has no effect, and a reader or a sweep removes it later.
    await Promise.allSettled(counters.map((counter) => this.#forward.withdraw(counter, op)));
    throw failed ? failed.reason : new NotAnnounced(untaken);
  }

  /**
   * Adds an intent. Returns `false` if the counter has no document, or no room. Throws `ClaimLost` if an answer's claim is
   * lost.
   */
  async #announce(counter: CounterWrite | KeptReply, intent: Intent): Promise<boolean> {
    const counters = this.#counters(counter.in);
    if ('claim' in counter) {
      const claimed = { _id: counter.id, claim: counter.claim } as { _id: string };
      const { matchedCount } = await counters.updateOne(claimed, { $set: { pending: [intent] } });
      if (matchedCount === 0) throw new ClaimLost();
      return true;
    }
    const open = { _id: counter.id, ...hasRoom };
    return (await counters.updateOne(open, { $push: { pending: intent } })).matchedCount > 0;
  }

  /**
   * Makes a counter's document, or waits until the document has room. Throws `gateway/unavailable` if the document has no room
   * in time.
   */
  async #provide(counter: { in: string; id: string }, until: number): Promise<void> {
    try {
      // Does not use an upsert: some compatible servers report no duplicate key to the slower of two racing upserts.
      await this.#counters(counter.in).insertOne({ _id: counter.id, pending: [] });
    } catch (error) {
      if (!isMongoDuplicate(error)) throw error;
      await this.makeRoom(counter.in, [counter.id], until);
    }
  }

  /**
   * Whether a compare-and-set has succeeded although its answer says that it matched nothing. This happens if the first answer
   * was lost and the driver sent the command again. The second time, the target no longer matches.
   */
  async #hasCommitted(target: { in: string; id: string }, op: string): Promise<boolean> {
    return (await this.#forward.read(target))?.lastOp === op;
  }

  #targets(name: string): Collection<TargetFields> {
    return this.#db.collection<TargetFields>(name);
  }

  #counters(name: string): Collection<CounterFields> {
    return this.#db.collection<CounterFields>(name);
  }
}

/** The update that makes a change in its target. It also stores the plan of the next steps there. */
export function commitOf(
  {
    set,
    unset = [],
    stamp,
    events = [],
  }: Pick<Change, 'set' | 'unset' | 'stamp'> & Partial<Pick<Change, 'events'>>,
  plan: Plan,
  at: Date,
): Document {
  const outbox = outboxUpdate(events);
  const unsettled = follows(plan) ? { unsettled: plan, unsettledAt: at } : {};
  return {
    $set: { ...set, ...unsettled, ...outbox.$set, rev: plan.rev, lastOp: plan.op },
    ...(unset.length > 0 && { $unset: Object.fromEntries(unset.map((field) => [field, ''])) }),
    ...(stamp && { $currentDate: { [stamp]: true } }),
    ...(outbox.$push && { $push: outbox.$push }),
  };
}

function follows({ rows, counters, reply }: Plan): boolean {
  return rows.length > 0 || counters.length > 0 || reply !== undefined;
}

/** Thrown if counters could not take an intent, because they have no document yet or no room. */
class NotAnnounced extends Error {
  readonly counters: readonly { in: string; id: string }[];

  constructor(counters: readonly { in: string; id: string }[]) {
    super(`${counters.length} counters took no intent.`);
    this.counters = counters;
  }
}

function noRoom(): ApiError {
  return new ApiError('gateway/unavailable', {
    message: 'Too many changes of this user are under way. Try again in a second.',
  });
}

/**
 * If several writes go to one counter's document, merges them into one write. Otherwise the first write would remove the intent
 * that the others need.
 */
export function mergeCounters(counters: readonly CounterWrite[]): CounterWrite[] {
  const merged = new Map<string, CounterWrite>();
  for (const { in: name, id, inc } of counters) {
    const key = JSON.stringify([name, id]);
    const sum = { ...merged.get(key)?.inc };
    for (const [field, value] of Object.entries(inc)) sum[field] = (sum[field] ?? 0) + value;
    merged.set(key, { in: name, id, inc: sum });
  }
  return [...merged.values()];
}
