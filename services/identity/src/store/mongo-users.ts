import type { EventEnvelope } from '@kith/contracts';
import { isMongoDeadlock, isMongoDuplicate, type MongoOutbox, outboxFields, Turns } from '@kith/service';
import type { Collection, Db, Filter } from 'mongodb';
import type { User, UserStore } from './index.ts';
import { changeOf, documentOf, idOf, type UserDocument, userOf } from './mongo-user-document.ts';

const attempts = 10;
/** Deleted users are there until all of them is gone (mongo-erasure.ts). */
const alive = { deletedAt: { $exists: false } };

/** Users on MongoDB: one document a user is the truth, with the events not yet copied out of it. */
export class MongoUsers implements UserStore {
  readonly #users: Collection<UserDocument>;
  readonly #outbox: MongoOutbox;
  readonly #turns = new Turns();

  constructor(db: Db, outbox: MongoOutbox) {
    this.#users = db.collection('users');
    this.#outbox = outbox;
  }

  async add(
    user: User,
    event: EventEnvelope,
  ): Promise<'stored' | 'foreign-id-taken' | 'email-taken' | 'username-taken'> {
    const document = { ...documentOf(user), ...outboxFields([event]) };
    return this.#naming(document, ['foreign-id', 'email', 'username'], async (again): Promise<'stored'> => {
      // A write whose answer was lost may have been stored.
      if (again && (await this.#isThere({ _id: document._id }))) return 'stored';
      await this.#users.insertOne(document);
      return 'stored';
    });
  }

  async update(user: User, event: EventEnvelope): Promise<'stored' | 'stale' | 'username-taken'> {
    const asRead = { _id: idOf(user.projectId, user.id), rev: user.rev - 1 };
    return this.#naming(documentOf(user), ['username'], async () => {
      const stored = await this.#users.findOne(asRead, { projection: { outbox: 1 } });
      if (!stored) return 'stale';
      await this.#outbox.makeRoom('users', stored);
      const { matchedCount } = await this.#users.updateOne(asRead, changeOf(user, event));
      return matchedCount > 0 ? 'stored' : 'stale';
    });
  }

  /**
   * Writes what gives a user names, and tells which is taken when that fails. Racing writes of one name deadlock on
   * FerretDB, which costs a second each: those of this process take turns, the others are tried again.
   */
  async #naming<Outcome, Name extends 'foreign-id' | 'email' | 'username'>(
    { _id, projectId, foreignId, email, usernameKey }: UserDocument,
    names: readonly Name[],
    write: (again: boolean) => Promise<Outcome>,
  ): Promise<Outcome | `${Name}-taken`> {
    const filters = {
      'foreign-id': foreignId && { foreignId },
      email: email && { email },
      username: usernameKey && { usernameKey },
    };
    const given = names.flatMap((name) =>
      filters[name] ? [{ name, filter: { projectId, ...filters[name] } }] : [],
    );
    const keys = given.map(({ filter }) => JSON.stringify(filter));
    return this.#turns.run(keys, async () => {
      for (let attempt = 0; attempt < attempts; attempt++) {
        try {
          return await write(attempt > 0);
        } catch (error) {
          if (!isMongoDuplicate(error) && !isMongoDeadlock(error)) throw error;
        }
        for (const { name, filter } of given) {
          if (await this.#isThere({ ...filter, _id: { $ne: _id } })) return `${name}-taken` as const;
        }
        // Nobody holds it: the other writer was given up as well, or has let go of it.
      }
      throw new Error('A name was neither free nor taken, again and again.');
    });
  }

  async touch(projectId: string, userId: string, at: Date): Promise<void> {
    await this.#users.updateOne({ _id: idOf(projectId, userId), ...alive }, { $max: { lastActive: at } });
  }

  async find(projectId: string, userId: string): Promise<User | null> {
    const found = await this.#users.findOne({ _id: idOf(projectId, userId), ...alive });
    return found && userOf(found);
  }

  async findByEmail(projectId: string, email: string): Promise<User | null> {
    const found = await this.#users.findOne({ projectId, email });
    return found && userOf(found);
  }

  async findMany(projectId: string, userIds: readonly string[]): Promise<User[]> {
    const ids = userIds.map((userId) => idOf(projectId, userId));
    const found = await this.#users.find({ _id: { $in: ids }, ...alive }).toArray();
    return found.map(userOf);
  }

  async #isThere(filter: Filter<UserDocument>): Promise<boolean> {
    return (await this.#users.findOne(filter, { projection: { _id: 1 } })) !== null;
  }
}
