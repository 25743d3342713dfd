import type { Collection, Db, Document } from 'mongodb';
import type { CounterFields, Intent, Plan, RowFields, TargetFields } from './plan.ts';
import { writeRow } from './write-row.ts';

/** The steps of a change, in order. A test can stop or end the process between any two of them. */
export type Step = 'announced' | 'committed' | 'rows' | 'counters' | 'settled';

/**
 * How long a plan is trusted after it was read, in ms. An intent's change may commit for just as long after the intent was
 * made.
 */
export const trustMs = 30_000;
/** Readers and sweeps do not settle an intent that is younger than this, in ms, because its writer may still settle it. */
const leaveMs = 1_000;
const sweepLimit = 100;
/** Maximum number of intents that one reader settles. Also the maximum that one process settles at the same time. */
const fewIntents = 20;

export interface RollForwardOptions {
  db: Db;
  onStep: (step: Step) => void | Promise<void>;
  now: () => number;
  /**
   * The changes that this process is making. The sweep and the readers of counters do not touch the intents of these changes.
   */
  making: ReadonlySet<string>;
}

/**
 * Writes what follows from the committed changes of this process, and from the changes that other processes left unsettled when
 * they died (docs/adr/0005). Removes the intents of changes that never committed.
 */
export class RollForward {
  readonly #db: Db;
  readonly #onStep: (step: Step) => void | Promise<void>;
  readonly #now: () => number;
  readonly #making: ReadonlySet<string>;
  /**
   * The intents that this process settles for other processes. While one call settles an intent, other calls leave it alone.
   */
  readonly #settling = new Set<string>();

  constructor({ db, onStep, now, making }: RollForwardOptions) {
    this.#db = db;
    this.#onStep = onStep;
    this.#now = now;
    this.#making = making;
  }

  /**
   * Writes what follows from a target's change. With `op`, settles only this change. If another change of the target is
   * unsettled, does nothing. Trusts a plan for `trustMs` after reading it, and then reads it again. An older plan could write a
   * row that a later change has removed, because the database remembers removed rows only for a limited time.
   */
  async run(
    at: { in: string; id: string },
    op?: string,
    known?: { plan: Plan; readAt: number },
  ): Promise<void> {
    for (let next = known; ; next = undefined) {
      const readAt = next?.readAt ?? this.#now();
      const plan = next?.plan ?? (await this.read(at))?.unsettled;
      if (!plan || (op && plan.op !== op)) return;
      if (await this.#write(at, plan, readAt + trustMs)) return;
    }
  }

  /** Settles a target if it was unsettled when it was read; otherwise resolves immediately. */
  async settleTarget(collection: string, target: TargetFields): Promise<void> {
    if (target.unsettled) await this.run({ in: collection, id: target._id }, target.unsettled.op);
  }

  /**
   * Settles at most twenty of the intents that were read with a counter. Takes only intents older than a second: their
   * processes died or are slow. Leaves younger intents to their writers. A change is counted before its writer acknowledges it,
   * so a reader sees every change that was acknowledged before this call. Intents that this process is making or settling are
   * not touched either. If they were settled here, too, readers would repeat the same work again and again while the database
   * is slow. Returns whether the counter has to be read again. One further read is enough.
   */
  async settleCounter(collection: string, counter: CounterFields): Promise<boolean> {
    return this.#settleSome(collection, counter, this.#leftOf(counter).slice(0, fewIntents));
  }

  /**
   * An answer's document may name a change. Finds out whether this change was made. Returns `true` if the document has to be
   * read again: the answer is written, or there will be no answer. Returns `false` while the change may still be made. With
   * `stop`, prevents such a change from committing, and returns `true`.
   */
  async settleReply(collection: string, reply: CounterFields, how: { stop: boolean }): Promise<boolean> {
    const at = { in: collection, id: reply._id };
    const settled = (reply.pending ?? []).map((intent) => this.#settleIntent(at, intent, how));
    return (await Promise.all(settled)).every(Boolean);
  }

  /**
   * Settles the changes that processes left unsettled when they died. If some changes cannot be settled, settles all others and
   * then rejects.
   */
  async sweep(collections: { targets: readonly string[]; counters: readonly string[] }): Promise<void> {
    // Uses a range, because some servers do not use a partial index if there is only an upper bound.
    const old = { $gt: new Date(0), $lt: new Date(this.#now() - leaveMs) };
    const failures: unknown[] = [];
    const failed = (error: unknown) => failures.push(error);
    for (const name of collections.targets) {
      const left = this.#targets(name).find(
        { unsettledAt: old },
        { projection: { _id: 1 }, limit: sweepLimit },
      );
      for (const { _id } of await left.toArray()) await this.run({ in: name, id: _id }).catch(failed);
    }
    for (const name of collections.counters) {
      const open = this.#counters(name).find({ 'pending.at': old }, { limit: sweepLimit });
      for (const counter of await open.toArray()) await this.#settleAll(name, counter).catch(failed);
    }
    if (failures.length > 0) throw new AggregateError(failures, `${failures.length} left unsettled`);
  }

  async withdraw(counter: { in: string; id: string }, op: string): Promise<void> {
    await this.#counters(counter.in).updateOne({ _id: counter.id }, { $pull: { pending: { op } } });
  }

  async read(at: { in: string; id: string }): Promise<TargetFields | null> {
    return this.#targets(at.in).findOne({ _id: at.id }, { projection: { rev: 1, lastOp: 1, unsettled: 1 } });
  }

  #leftOf(counter: CounterFields): Intent[] {
    const before = this.#now() - leaveMs;
    return (counter.pending ?? []).filter(({ at }) => at.getTime() < before);
  }

  async #settleSome(
    collection: string,
    counter: CounterFields,
    intents: readonly Intent[],
  ): Promise<boolean> {
    const at = { in: collection, id: counter._id };
    const settleOne = async (intent: Intent) => {
      const key = `${intent.op} ${collection} ${counter._id}`;
      if (this.#making.has(intent.op) || this.#settling.has(key)) return false;
      if (this.#settling.size >= fewIntents) return false;
      this.#settling.add(key);
      try {
        return await this.#settleIntent(at, intent);
      } finally {
        this.#settling.delete(key);
      }
    };
    return (await Promise.all(intents.map(settleOne))).includes(true);
  }

  async #settleAll(collection: string, counter: CounterFields): Promise<void> {
    const left = this.#leftOf(counter);
    for (let from = 0; from < left.length; from += fewIntents)
      await this.#settleSome(collection, counter, left.slice(from, from + fewIntents));
  }

  async #settleIntent(
    counter: { in: string; id: string },
    intent: Intent,
    { stop = false }: { stop?: boolean } = {},
  ): Promise<boolean> {
    const at = { in: intent.in, id: intent.target };
    const readAt = this.#now();
    const target = await this.read(at);
    if (target?.unsettled?.op === intent.op) {
      await this.run(at, intent.op, { plan: target.unsettled, readAt });
      return true;
    }
    if (target && target.rev <= intent.fromRev) {
      if (!stop && intent.at.getTime() > readAt - trustMs) return false;
      // The intent's process died before the commit, or is slow. Once `rev` is raised, that process cannot commit any more.
      await this.#targets(at.in).updateOne(
        { _id: at.id, rev: { $lte: intent.fromRev } },
        { $set: { rev: intent.fromRev + 1 } },
      );
      return this.#settleIntent(counter, intent);
    }
    // There are two cases. Either the change is not committed, and its compare-and-set has failed or will fail. Then `withdraw`
    // removes the intent. Or the change is settled already, and the intent is gone. Then `withdraw` finds nothing to remove.
    await this.withdraw(counter, intent.op);
    return true;
  }

  async #write(at: { in: string; id: string }, plan: Plan, until: number): Promise<boolean> {
    const { op, rev, reply } = plan;
    const rows = await Promise.all(
      plan.rows.map((row) => writeRow(this.#db.collection<RowFields>(row.in), row, { rev, until })),
    );
    if (rows.includes(false)) return false;
    await this.#onStep('rows');
    const pull = { $pull: { pending: { op } } };
    const written = plan.counters.map(({ in: name, id, inc }) =>
      this.#counters(name).updateOne({ _id: id, 'pending.op': op }, { $inc: inc, ...pull }),
    );
    if (reply) {
      const update = { $set: reply.set, $unset: { claim: '', until: '', forMs: '' }, ...pull } as Document;
      written.push(this.#counters(reply.in).updateOne({ _id: reply.id, 'pending.op': op }, update));
    }
    await Promise.all(written);
    await this.#onStep('counters');
    await this.#targets(at.in).updateOne(
      { _id: at.id, 'unsettled.op': op },
      { $unset: { unsettled: '', unsettledAt: '' } },
    );
    await this.#onStep('settled');
    return true;
  }

  #targets(name: string): Collection<TargetFields> {
    return this.#db.collection<TargetFields>(name);
  }

  #counters(name: string): Collection<CounterFields> {
    return this.#db.collection<CounterFields>(name);
  }
}
