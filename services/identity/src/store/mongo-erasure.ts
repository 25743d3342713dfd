import type { EventEnvelope } from '@kith/contracts';
import { failedWrites, type MongoOutbox, outboxUpdate } from '@kith/service';
import type { Collection, Db, IndexDescription, UpdateFilter } from 'mongodb';
import { userEvents } from '../user-events.ts';
import { endedIds } from '../user-ids.ts';
import { type DeletedUser, type ErasureStore, keepEndedMs, type User } from './index.ts';
import { idOf, type Tombstone } from './mongo-user-document.ts';

const kept = ['_id', 'projectId', 'userId', 'rev', 'seq', 'outbox', 'outboxAt'];

/** Indexes of `endedUsers`. */
export const endedIndexes: readonly IndexDescription[] = [
  { name: 'expire', key: { expireAt: 1 }, expireAfterSeconds: 0 },
];

/** Ends accounts on MongoDB: the user's document is emptied but for its events, and goes once they are out. */
export class MongoErasure implements ErasureStore {
  readonly #users: Collection<Tombstone>;
  readonly #events: Collection<{ _id: string; unpublished?: true }>;
  readonly #ended: Collection<{ _id: string; expireAt: Date }>;
  readonly #outbox: MongoOutbox;

  constructor(db: Db, outbox: MongoOutbox) {
    this.#users = db.collection('users');
    this.#events = db.collection('events');
    this.#ended = db.collection('endedUsers');
    this.#outbox = outbox;
  }

  async remove(user: User, event: EventEnvelope): Promise<'stored' | 'stale'> {
    const asRead = { _id: idOf(user.projectId, user.id), rev: user.rev };
    const stored = await this.#users.findOne(asRead);
    if (!stored) return 'stale';
    await this.#outbox.makeRoom('users', stored);
    // Before it ends: of one who is still there, a mark says nothing.
    await this.#noteEnd(user.projectId, endedIds(user));
    const gone = Object.keys(stored).filter((field) => !kept.includes(field));
    const { $set, $push } = outboxUpdate([event]);
    const mark = { rev: user.rev + 1, seq: event.aggregate.seq, deletedAt: new Date(event.occurredAt) };
    const update = {
      $unset: Object.fromEntries(gone.map((field) => [field, ''])),
      $set: { ...mark, ...$set },
      $push,
    } as UpdateFilter<Tombstone>;
    const { matchedCount } = await this.#users.updateOne(asRead, update);
    return matchedCount > 0 ? 'stored' : 'stale';
  }

  async unfinished(limit: number): Promise<DeletedUser[]> {
    // Any time, as a range: some servers use a partial index for nothing less.
    const marked = { deletedAt: { $gt: new Date(0) } };
    const found = await this.#users.find(marked, { sort: { deletedAt: 1 }, limit }).toArray();
    return found.map(({ projectId, userId, seq, deletedAt }) => ({ projectId, userId, seq, deletedAt }));
  }

  async finish({ projectId, userId, seq }: DeletedUser): Promise<boolean> {
    const mark = { _id: idOf(projectId, userId), deletedAt: { $exists: true } };
    if (await this.#users.findOne({ ...mark, outboxAt: { $exists: true } })) return false;
    const { range, last } = userEvents({ projectId, userId, seq });
    const others = { $gt: range.from, $lt: range.to, $ne: last };
    if (await this.#events.findOne({ _id: others })) return false;
    if (await this.#events.findOne({ _id: last, unpublished: { $exists: true } })) return false;
    await this.#noteEnd(projectId, [userId]);
    await this.#users.deleteOne(mark);
    return true;
  }

  async #noteEnd(projectId: string, ids: readonly string[]): Promise<void> {
    const expireAt = new Date(Date.now() + keepEndedMs);
    const marks = ids.map((id) => ({ _id: idOf(projectId, id), expireAt }));
    for (const _id of await failedWrites(this.#ended, marks)) {
      await this.#ended.updateOne({ _id }, { $max: { expireAt } });
    }
  }
}
