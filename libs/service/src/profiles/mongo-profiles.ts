import type { PublicUser } from '@kith/contracts';
import type { Collection, Db, IndexDescription } from 'mongodb';
import { failedWrites } from '../store/failed-writes.ts';
import { GatheredWrites } from '../store/gather-writes.ts';
import { isMongoDuplicate } from '../store/mongo.ts';
import { keepForgottenMs, type Profile, type ProfileCopy, type ProfileStore } from './profiles.ts';

interface ProfileDocument {
  _id: string;
  seq: number;
  /** JSON text: a profile's `metadata` may hold keys that a database gives a meaning to. Absent in a mark. */
  user?: string;
  /** Of a mark alone: when it goes itself. */
  expireAt?: Date;
}

/** Indexes of `profiles`: marks of forgotten users go by themselves. */
export const profilesIndexes: readonly IndexDescription[] = [
  { name: 'expire', key: { expireAt: 1 }, expireAfterSeconds: 0 },
];

/** The own copy of public users on MongoDB, in the collection `profiles`, with what a service adds to each. */
export class MongoProfileCopy implements ProfileCopy {
  readonly #profiles: Collection<ProfileDocument>;
  readonly #fieldsOf: (user: PublicUser) => Record<string, string>;
  readonly #kept = new GatheredWrites<ProfileDocument>({
    writeOne: (document) => this.#keepOne(document),
    writeAll: (documents) => this.#keepGroup(documents),
  });

  /** @param fieldsOf Makes further fields of a user's document, which come and go with the profile. */
  constructor(db: Db, fieldsOf: (user: PublicUser) => Record<string, string> = () => ({})) {
    this.#profiles = db.collection('profiles');
    this.#fieldsOf = fieldsOf;
  }

  async find(projectId: string, userIds: readonly string[]): Promise<Map<string, PublicUser>> {
    if (userIds.length === 0) return new Map();
    const ids = userIds.map((userId) => `${projectId}|${userId}`);
    // All of them in one answer: a server gives 101 of its own accord.
    const found = await this.#profiles.find({ _id: { $in: ids } }, { batchSize: ids.length }).toArray();
    const users = found.flatMap(({ user }) => (user ? [JSON.parse(user) as PublicUser] : []));
    return new Map(users.map((user) => [user.id, user]));
  }

  keepAll(profiles: readonly Profile[]): Promise<void> {
    return this.#putAll(profiles.map((profile) => this.#documentOf(profile)));
  }

  /** Those that are to be kept at the same time are one write. */
  keep(profile: Profile): Promise<void> {
    return this.#kept.write(this.#documentOf(profile));
  }

  /** Puts documents where none are, and in the places of older ones. */
  async #putAll(documents: readonly ProfileDocument[]): Promise<void> {
    const there = new Set(await failedWrites(this.#profiles, documents));
    await this.#replaceOlder(documents.filter(({ _id }) => there.has(_id)));
  }

  async #keepGroup(documents: readonly ProfileDocument[]): Promise<void> {
    // A first one is of a new user most of the time, a later one of a user who is there.
    const first = documents.filter(({ seq }) => seq <= 1);
    const later = documents.filter(({ seq }) => seq > 1);
    await this.#putAll(first);
    if ((await this.#replaceOlder(later)) < later.length) await this.#putAll(later);
  }

  /** Replaces those that are older, and tells how many were. */
  async #replaceOlder(documents: readonly ProfileDocument[]): Promise<number> {
    if (documents.length === 0) return 0;
    const replacements = documents.map(({ _id, ...content }) => ({
      replaceOne: { filter: { _id, seq: { $lt: content.seq } }, replacement: content },
    }));
    return (await this.#profiles.bulkWrite(replacements, { ordered: false })).matchedCount;
  }

  async #keepOne({ _id, ...content }: ProfileDocument): Promise<void> {
    const { seq } = content;
    const replace = () => this.#profiles.replaceOne({ _id, seq: { $lt: seq } }, content);
    if ((await replace()).matchedCount > 0) return;
    try {
      await this.#profiles.insertOne({ _id, ...content });
    } catch (error) {
      if (!isMongoDuplicate(error)) throw error;
      // Another may have put an older one there in between.
      await replace();
    }
  }

  #documentOf({ seq, user }: Profile): ProfileDocument {
    const _id = `${user.projectId}|${user.id}`;
    return { _id, seq, user: JSON.stringify(user), ...this.#fieldsOf(user) };
  }
}

/** Puts the mark of a user whose account has ended in the place of the profile; one that is there already stays. */
export async function putMark<T extends ProfileDocument>(profiles: Collection<T>, mark: T): Promise<void> {
  const { _id, ...content } = mark;
  const marked = profiles as unknown as Collection<ProfileDocument>;
  const replace = () => marked.replaceOne({ _id, user: { $exists: true } }, content);
  if ((await replace()).matchedCount > 0) return;
  try {
    await marked.insertOne(mark);
  } catch (error) {
    if (!isMongoDuplicate(error)) throw error;
    // A mark that was there before, or a profile that has come in between.
    await replace();
  }
}

/** The own copy on MongoDB, with marks of users whose accounts have ended in the places of their profiles. */
export class MongoProfiles extends MongoProfileCopy implements ProfileStore {
  readonly #profiles: Collection<ProfileDocument>;

  constructor(db: Db) {
    super(db);
    this.#profiles = db.collection('profiles');
  }

  async forget(of: { projectId: string; userId: string; seq: number }): Promise<void> {
    const _id = `${of.projectId}|${of.userId}`;
    const mark = { seq: of.seq, expireAt: new Date(Date.now() + keepForgottenMs) };
    await putMark(this.#profiles, { _id, ...mark });
  }

  async forgotten(projectId: string, userIds: readonly string[]): Promise<Set<string>> {
    const ids = userIds.map((userId) => `${projectId}|${userId}`);
    const marks = await this.#profiles
      .find({ _id: { $in: ids }, user: { $exists: false } }, { projection: { _id: 1 } })
      .toArray();
    return new Set(marks.map(({ _id }) => _id.slice(projectId.length + 1)));
  }
}
