import type { EventEnvelope } from '@kith/contracts';
import { type MongoOutbox, outboxUpdate } from '@kith/service';
import type { Collection, Db, IndexDescription, UpdateFilter } from 'mongodb';
import type { AccountStore, Ending, RevocationReason } from './accounts.ts';
import type { User } from './index.ts';
import { idOf, type UserDocument } from './mongo-user-document.ts';

/** Indexes of `users` that signing in needs. */
export const accountIndexes: readonly IndexDescription[] = [
  {
    name: 'suspended',
    key: { suspendedAt: 1 },
    partialFilterExpression: { suspendedAt: { $exists: true } },
  },
  { name: 'ending', key: { endingAt: 1 }, partialFilterExpression: { endingAt: { $exists: true } } },
];

/** The part of users that concerns signing in, on MongoDB. */
export class MongoAccounts implements AccountStore {
  readonly #users: Collection<UserDocument>;
  readonly #outbox: MongoOutbox;

  constructor(db: Db, outbox: MongoOutbox) {
    this.#users = db.collection('users');
    this.#outbox = outbox;
  }

  async update(
    user: User,
    { event, ending }: { event: EventEnvelope | null; ending: RevocationReason | null },
  ): Promise<'stored' | 'stale'> {
    const asRead = { _id: idOf(user.projectId, user.id), rev: user.rev - 1 };
    const stored = await this.#users.findOne(asRead, { projection: { outbox: 1 } });
    if (!stored) return 'stale';
    await this.#outbox.makeRoom('users', stored);
    const { passwordHash, isActive, suspendedAt, sessionEpoch, keptSession, updatedAt, rev, seq } = user;
    const { $set, $push } = outboxUpdate(event ? [event] : []);
    const update = {
      $set: {
        ...{ passwordHash, isActive, sessionEpoch, keptSession, updatedAt, rev, seq },
        ...(suspendedAt ? { suspendedAt } : {}),
        ...(ending ? { endingAt: updatedAt, endingReason: ending } : {}),
        ...$set,
      },
      ...(suspendedAt ? {} : { $unset: { suspendedAt: '' } }),
      ...($push ? { $push } : {}),
    } as UpdateFilter<UserDocument>;
    const { matchedCount } = await this.#users.updateOne(asRead, update);
    return matchedCount > 0 ? 'stored' : 'stale';
  }

  async endings(limit: number): Promise<Ending[]> {
    const found = await this.#users.find({ endingAt: { $gt: new Date(0) } }, { limit }).toArray();
    return found.map(({ projectId, userId, sessionEpoch, endingReason }) => ({
      projectId,
      userId,
      epoch: sessionEpoch ?? 0,
      reason: endingReason ?? 'ended',
    }));
  }

  async ended({ projectId, userId, epoch }: Ending): Promise<void> {
    await this.#users.updateOne(
      { _id: idOf(projectId, userId), sessionEpoch: epoch },
      { $unset: { endingAt: '', endingReason: '' } },
    );
  }

  async suspendedSince(since: Date): Promise<{ userId: string; at: Date }[]> {
    const found = await this.#users
      .find({ suspendedAt: { $gte: since } }, { projection: { userId: 1, suspendedAt: 1 } })
      .toArray();
    return found.flatMap(({ userId, suspendedAt }) => (suspendedAt ? [{ userId, at: suspendedAt }] : []));
  }
}
