import { failedWrites, isMongoDuplicate } from '@kith/service';
import type { Collection, Db, Filter } from 'mongodb';
import type { ImportOutcome, ImportStore } from './imports.ts';
import type { User } from './index.ts';
import { documentOf, idOf, type Tombstone, type UserDocument } from './mongo-user-document.ts';

interface KindDocument {
  /** `<projectId>|<place>`: there are as many places as a project may have kinds, so requests at once can not exceed it. */
  _id: string;
  projectId: string;
  kind: string;
}

/** Writes of one name that deadlock are tried again as often; see docs/adr/0010. */
const attempts = 10;

/** Brings users in on MongoDB: a batch is one write, whose documents are stored or refused one by one. */
export class MongoImports implements ImportStore {
  readonly #users: Collection<UserDocument>;
  readonly #kinds: Collection<KindDocument>;
  readonly #ended: Collection<{ _id: string }>;

  constructor(db: Db) {
    this.#users = db.collection('users');
    this.#kinds = db.collection('hashKinds');
    this.#ended = db.collection('endedUsers');
  }

  async add(projectId: string, users: readonly User[]): Promise<ImportOutcome[]> {
    const outcomes = new Map<string, ImportOutcome>();
    const { there, elsewhere, ended } = await this.#taken(
      projectId,
      users.map(({ id }) => id),
    );
    for (const id of elsewhere) outcomes.set(id, 'id-taken');
    for (const id of there) outcomes.set(id, 'there');
    for (const id of ended) outcomes.set(id, 'deleted');
    const asked = new Set<string>();
    let left = users.filter(({ id }) => {
      const isNew = !outcomes.has(id) && !asked.has(id);
      asked.add(id);
      return isNew;
    });
    for (let attempt = 0; left.length > 0; attempt++) {
      if (attempt === attempts) throw new Error('Names were neither free nor taken, again and again.');
      const failed = new Set(await failedWrites(this.#users, left.map(documentOf)));
      for (const { id } of left) if (!failed.has(idOf(projectId, id))) outcomes.set(id, 'stored');
      left = left.filter(({ id }) => failed.has(idOf(projectId, id)));
      for (const user of left) {
        const reason = await this.#reason(user);
        if (reason) outcomes.set(user.id, reason);
      }
      left = left.filter(({ id }) => !outcomes.has(id));
    }
    // Of two rows of one id the first is the user.
    const told = new Set<string>();
    return users.map(({ id }) => {
      const outcome = told.has(id) ? 'there' : (outcomes.get(id) ?? 'there');
      if (outcome === 'stored') told.add(id);
      return outcome;
    });
  }

  async noteHashKinds(projectId: string, kinds: readonly string[], most: number): Promise<string[]> {
    for (const kind of kinds) {
      for (let known = await this.hashKinds(projectId); !known.includes(kind) && known.length < most; ) {
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

  /** Which ids are users of this project, which were, and which are of another project. */
  async #taken(projectId: string, ids: readonly string[]) {
    const projection = { _id: 0, userId: 1, projectId: 1, deletedAt: 1 };
    const keys = new Map(ids.map((id) => [idOf(projectId, id), id]));
    const users = this.#users.find<Partial<Tombstone>>({ userId: { $in: [...ids] } }, { projection });
    const found = await users.toArray();
    // Only then: an erasure that is finished in between has noted the id before its mark went.
    const gone = await this.#ended.find({ _id: { $in: [...keys.keys()] } }).toArray();
    const idsOf = (some: readonly Partial<Tombstone>[]) => some.flatMap(({ userId }) => userId ?? []);
    const own = found.filter((one) => one.projectId === projectId);
    return {
      there: idsOf(own.filter(({ deletedAt }) => !deletedAt)),
      ended: [
        ...idsOf(own.filter(({ deletedAt }) => deletedAt)),
        ...gone.flatMap(({ _id }) => keys.get(_id) ?? []),
      ],
      elsewhere: idsOf(found.filter((one) => one.projectId !== projectId)),
    };
  }

  /** Which of a user's names another has; none where the write was only given up. */
  async #reason({ projectId, id, foreignId, email, username }: User): Promise<ImportOutcome | null> {
    const _id = idOf(projectId, id);
    const isThere = async (filter: Filter<UserDocument>) =>
      (await this.#users.findOne(filter, { projection: { _id: 1 } })) !== null;
    if (await isThere({ _id })) return 'there';
    if (foreignId !== null && (await isThere({ projectId, foreignId }))) return 'foreign-id-taken';
    if (email !== null && (await isThere({ projectId, email }))) return 'email-taken';
    const usernameKey = username?.toLowerCase();
    return usernameKey && (await isThere({ projectId, usernameKey })) ? 'username-taken' : null;
  }
}
