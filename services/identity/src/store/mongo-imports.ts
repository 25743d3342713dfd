import { failedWrites, isMongoDuplicate } from '@kith/service';
import type { Collection, Db, Filter, WithId } from 'mongodb';
import { endedIds } from '../user-ids.ts';
import type { ImportOutcome, ImportStore } from './imports.ts';
import type { User } from './index.ts';
import { documentOf, idOf, type Tombstone, type UserDocument, userOf } from './mongo-user-document.ts';

interface KindDocument {
  /** `<projectId>|<place>`: there are as many places as a project may have kinds, so requests at once can not exceed it. */
  _id: string;
  projectId: string;
  kind: string;
}

/** Users that are brought in at once, with the keys of the marks that each must not have. */
interface Batch {
  projectId: string;
  endedKeys: ReadonlyMap<User, readonly string[]>;
  outcomes: Map<User, ImportOutcome>;
}

/** Writes of one name that deadlock are tried again as often; see docs/adr/0010. */
const attempts = 10;

/** Brings users in on MongoDB: a batch is one write, whose documents are stored or refused one by one. */
export class MongoImports implements ImportStore {
  readonly #users: Collection<UserDocument>;
  readonly #kinds: Collection<KindDocument>;
  readonly #marks: Collection<{ _id: string }>;

  constructor(db: Db) {
    this.#users = db.collection('users');
    this.#kinds = db.collection('hashKinds');
    this.#marks = db.collection('endedUsers');
  }

  async add(projectId: string, users: readonly User[]): Promise<ImportOutcome[]> {
    const endedKeys = users.map((user) => [user, endedIds(user).map((id) => idOf(projectId, id))] as const);
    const outcomes = new Map<User, ImportOutcome>();
    const batch = { projectId, endedKeys: new Map(endedKeys), outcomes };
    const isLeft = (user: User) => !outcomes.has(user);
    for (let left = users, inVain = 0; left.length > 0; left = left.filter(isLeft)) {
      if (inVain === attempts) throw new Error('Names were neither free nor taken, again and again.');
      const before = outcomes.size;
      await this.#addSome(batch, left);
      inVain = outcomes.size === before ? inVain + 1 : 0;
    }
    return users.flatMap((user) => outcomes.get(user) ?? []);
  }

  async noteHashKinds(
    projectId: string,
    kinds: readonly string[],
    mayAdd: (known: readonly string[], kind: string) => boolean,
  ): Promise<string[]> {
    for (const kind of kinds) {
      for (let known = await this.hashKinds(projectId); !known.includes(kind) && mayAdd(known, kind); ) {
        try {
          await this.#kinds.insertOne({ _id: `${projectId}|${known.length}`, projectId, kind });
        } catch (error) {
          // Another request took the place.
          if (!isMongoDuplicate(error)) throw error;
        }
        known = await this.hashKinds(projectId);
      }
    }
    return this.hashKinds(projectId);
  }

  async hashKinds(projectId: string): Promise<string[]> {
    // The character after the bar.
    const own = { _id: { $gt: `${projectId}|`, $lt: `${projectId}}` } };
    return (await this.#kinds.find(own).toArray()).map(({ kind }) => kind);
  }

  async replaceHash(
    { projectId, id }: Pick<User, 'projectId' | 'id'>,
    from: string,
    to: string,
  ): Promise<void> {
    const stored = { _id: idOf(projectId, id), passwordHash: from };
    await this.#users.updateOne(stored, { $set: { passwordHash: to } });
  }

  async known(projectId: string, of: { ids: readonly string[]; foreignIds: readonly string[] }) {
    const alive = { deletedAt: { $exists: false } } as const;
    const _id = { $in: of.ids.map((id) => idOf(projectId, id)) };
    const foreignId = { $in: [...of.foreignIds] };
    const projection = { _id: 0, userId: 1, foreignId: 1 };
    const read = (filter: Filter<UserDocument>) => this.#users.find(filter, { projection }).toArray();
    const [byId, byForeignId] = await Promise.all([
      of.ids.length > 0 ? read({ _id, ...alive }) : [],
      of.foreignIds.length > 0 ? read({ projectId, foreignId }) : [],
    ]);
    return {
      ids: byId.map(({ userId }) => userId),
      foreignIds: byForeignId.flatMap((one) =>
        one.foreignId === undefined ? [] : [{ foreignId: one.foreignId, id: one.userId }],
      ),
    };
  }

  /** Tells what becomes of some users, at least of those whose ids and names nobody else is about to take. */
  async #addSome(batch: Batch, users: readonly User[]): Promise<void> {
    const { projectId, outcomes } = batch;
    const { there, elsewhere } = await this.#holders(projectId, users);
    // Only then: an erasure that is finished in between has noted the id before its mark went.
    const ended = await this.#ended(batch, users);
    const hasEnded = new Set(ended);
    const firsts = new Map<string, User>();
    for (const user of users) {
      const found = there.get(user.id);
      if (found === 'ended' || (!found && hasEnded.has(user))) outcomes.set(user, 'deleted');
      else if (found) outcomes.set(user, { there: found });
      else if (elsewhere.has(user.id)) outcomes.set(user, 'id-taken');
      // Others of the id wait for what becomes of the first.
      else if (!firsts.has(user.id)) firsts.set(user.id, user);
    }
    const fresh = [...firsts.values()];
    const failed = new Set(await failedWrites(this.#users, fresh.map(documentOf)));
    const isStored = (user: User) => !failed.has(idOf(projectId, user.id));
    const stored = fresh.filter(isStored);
    for (const user of stored) outcomes.set(user, 'stored');
    await this.#takeBackEnded(batch, stored);
    const refused = fresh.filter((user) => !isStored(user));
    for (const [user, reason] of await this.#reasons(projectId, refused)) outcomes.set(user, reason);
  }

  /** Who has these ids: users of this project, or marks of them, and users of others. */
  async #holders(projectId: string, users: readonly User[]) {
    const holders = this.#users.find({ userId: { $in: users.map(({ id }) => id) } });
    const found: (WithId<UserDocument> | Tombstone)[] = await holders.toArray();
    const own = found.filter((one) => one.projectId === projectId);
    return {
      there: new Map(
        own.map((one) => [one.userId, isTombstone(one) ? ('ended' as const) : userOf(one)] as const),
      ),
      elsewhere: new Set(found.filter((one) => one.projectId !== projectId).map(({ userId }) => userId)),
    };
  }

  /** Which users have an id, or a foreign id, of one whose account has ended. */
  async #ended({ endedKeys }: Batch, users: readonly User[]): Promise<User[]> {
    const keysOf = (user: User) => endedKeys.get(user) ?? [];
    if (users.length === 0) return [];
    const marks = await this.#marks.find({ _id: { $in: users.flatMap(keysOf) } }).toArray();
    const marked = new Set(marks.map(({ _id }) => _id));
    return users.filter((user) => keysOf(user).some((key) => marked.has(key)));
  }

  /** An account that ended between the look for it and the write has let go of its names: who got them goes again. */
  async #takeBackEnded(batch: Batch, stored: readonly User[]): Promise<void> {
    for (const user of await this.#ended(batch, stored)) {
      const { projectId, id, rev, seq } = user;
      await this.#users.deleteOne({ _id: idOf(projectId, id), rev, seq });
      batch.outcomes.set(user, 'deleted');
    }
  }

  /** Of users that were not stored, those of which another has a name; the write of the others was only given up. */
  async #reasons(projectId: string, users: readonly User[]): Promise<[User, ImportOutcome][]> {
    if (users.length === 0) return [];
    const holders = await Promise.all(
      names.map(async ({ field, of, reason }) => {
        const given = users.flatMap((user) => of(user) ?? []);
        if (given.length === 0) return { of, reason, byName: new Map<unknown, string>() };
        const filter = { projectId, [field]: { $in: given } } as Filter<UserDocument>;
        const found = await this.#users.find(filter, { projection: { userId: 1, [field]: 1 } }).toArray();
        return { of, reason, byName: new Map(found.map((one) => [one[field], one.userId])) };
      }),
    );
    return users.flatMap((user) => {
      const taken = holders.find(({ of, byName }) => (byName.get(of(user)) ?? user.id) !== user.id);
      return taken ? [[user, taken.reason] as [User, ImportOutcome]] : [];
    });
  }
}

/** What is unique of a user beside its id, in the order in which it is told. */
const names = [
  { field: 'foreignId', of: ({ foreignId }: User) => foreignId, reason: 'foreign-id-taken' },
  { field: 'email', of: ({ email }: User) => email, reason: 'email-taken' },
  { field: 'usernameKey', of: ({ username }: User) => username?.toLowerCase(), reason: 'username-taken' },
] as const;

function isTombstone(found: WithId<UserDocument> | Tombstone): found is Tombstone {
  return found.deletedAt !== undefined;
}
