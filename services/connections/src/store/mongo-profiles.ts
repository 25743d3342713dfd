import type { PublicUser } from '@kith/contracts';
import { fold, isMongoDuplicate } from '@kith/service';
import type { Collection, Db } from 'mongodb';
import type { Profile, SearchKeys } from './index.ts';

/** A profile, or the mark of a user whose account has ended. */
export interface ProfileDocument {
  _id: string;
  seq: number;
  /** JSON text: a profile's `metadata` may hold keys that a database gives a meaning to. Absent in a mark. */
  user?: string;
  /** Folded (SPEC B3). */
  usernameKey?: string;
  nameKey?: string;
  /** Of a mark alone: since when, when to erase what is left, when it goes itself. */
  endedAt?: Date;
  eraseAt?: Date;
  expireAt?: Date;
}

/** The own copy of public users, on MongoDB. */
export class MongoProfiles {
  readonly #profiles: Collection<ProfileDocument>;

  constructor(db: Db) {
    this.#profiles = db.collection('profiles');
  }

  async find(projectId: string, userIds: readonly string[]): Promise<Map<string, PublicUser>> {
    if (userIds.length === 0) return new Map();
    const ids = userIds.map((userId) => `${projectId}|${userId}`);
    const found = await this.#profiles.find({ _id: { $in: ids } }).toArray();
    const users = found.flatMap(({ user }) => (user ? [JSON.parse(user) as PublicUser] : []));
    return new Map(users.map((user) => [user.id, user]));
  }

  async searchKeys(projectId: string, userIds: readonly string[]): Promise<Map<string, SearchKeys>> {
    if (userIds.length === 0) return new Map();
    const prefix = `${projectId}|`;
    const found = await this.#profiles
      .find(
        { _id: { $in: userIds.map((userId) => prefix + userId) } },
        { projection: { usernameKey: 1, nameKey: 1 } },
      )
      .toArray();
    return new Map(
      found.map(({ _id, usernameKey, nameKey }) => [
        _id.slice(prefix.length),
        { username: usernameKey ?? '', name: nameKey ?? '' },
      ]),
    );
  }

  async keep({ seq, user }: Profile): Promise<void> {
    const _id = `${user.projectId}|${user.id}`;
    const content = {
      seq,
      user: JSON.stringify(user),
      usernameKey: fold(user.username ?? ''),
      nameKey: fold(user.name ?? ''),
    };
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
}
