import { keepForgottenMs, type OutboxFields, putMark, type TargetFields } from '@kith/service';
import type { Collection, Db, IndexDescription } from 'mongodb';
import type { Pair } from '../pair.ts';
import type { EndedUser, ErasureStore } from './index.ts';
import { pairEvents, pairId } from './keys.ts';
import type { ProfileDocument } from './mongo-profiles.ts';

type UserKey = Pick<EndedUser, 'projectId' | 'userId'>;

/** Indexes of `profiles`: marks that are due, and those that may go. */
export const markIndexes: readonly IndexDescription[] = [
  { name: 'erase', key: { eraseAt: 1 }, partialFilterExpression: { eraseAt: { $exists: true } } },
  { name: 'expire', key: { expireAt: 1 }, expireAfterSeconds: 0 },
];

/** Erases users on MongoDB. */
export class MongoErasure implements ErasureStore {
  readonly #profiles: Collection<ProfileDocument>;
  readonly #pairs: Collection<Omit<Pair, 'rev'> & TargetFields>;
  readonly #heads: Collection<{ _id: string; pending?: unknown[] }>;
  readonly #events: Collection<{ _id: string; unpublished?: true }>;

  constructor(db: Db) {
    this.#profiles = db.collection('profiles');
    this.#pairs = db.collection('pairs');
    this.#heads = db.collection('heads');
    this.#events = db.collection('events');
  }

  async end({ projectId, userId, endedAt, seq }: EndedUser & { seq: number }): Promise<void> {
    const expireAt = new Date(endedAt.getTime() + keepForgottenMs);
    const mark = { seq, endedAt, eraseAt: endedAt, expireAt };
    await putMark(this.#profiles, { _id: `${projectId}|${userId}`, ...mark });
  }

  async due(now: Date, limit: number): Promise<EndedUser[]> {
    // A range with two ends: some servers do not use a partial index for less.
    const marks = this.#profiles.find({ eraseAt: { $gt: new Date(0), $lte: now } }, { limit });
    return (await marks.toArray()).map(({ _id, endedAt = now }) => {
      const [projectId, userId] = _id.split('|') as [string, string];
      return { projectId, userId, endedAt };
    });
  }

  async lookAgain({ projectId, userId }: UserKey, at: Date | null): Promise<void> {
    const update = at ? { $set: { eraseAt: at } } : { $unset: { eraseAt: '' as const } };
    await this.#profiles.updateOne({ _id: `${projectId}|${userId}`, endedAt: { $exists: true } }, update);
  }

  async partners({ projectId, userId }: UserKey): Promise<string[]> {
    const key = `${projectId}|${userId}`;
    // The character after the bar.
    const first = this.#pairs.find(
      { _id: { $gt: `${key}|`, $lt: `${key}}` } },
      { projection: { higher: 1 } },
    );
    const second = this.#pairs.find({ higher: userId, projectId }, { projection: { lower: 1 } });
    const [higher, lower] = await Promise.all([first.toArray(), second.toArray()]);
    return [...higher.map((pair) => pair.higher), ...lower.map((pair) => pair.lower)];
  }

  async removePair(pair: Pair): Promise<boolean> {
    const settled: Partial<Record<keyof (TargetFields & OutboxFields), { $exists: false }>> = {
      unsettled: { $exists: false },
      outboxAt: { $exists: false },
    };
    const asRead = { _id: pairId(pair), rev: pair.rev, ...settled };
    if (!(await this.#pairs.findOne(asRead))) return false;
    const { range, last } = pairEvents(pair);
    if (await this.#events.findOne({ _id: { $gt: range.from, $lt: range.to, $ne: last } })) return false;
    if (await this.#events.findOne({ _id: last, unpublished: { $exists: true } })) return false;
    return (await this.#pairs.deleteOne(asRead)).deletedCount > 0;
  }

  async removeTotals({ projectId, userId }: UserKey): Promise<void> {
    const idle = { $or: [{ pending: { $exists: false } }, { pending: { $size: 0 } }] };
    await this.#heads.deleteOne({ _id: `${projectId}|${userId}`, ...idle });
  }
}
