import { MongoProfileCopy } from '@kith/service';
import type { Collection, Db } from 'mongodb';
import { type SearchKeys, searchKeysOf } from '../search-keys.ts';
import type { SearchableProfiles } from './index.ts';

/** A profile, or the mark of a user whose account has ended. */
export interface ProfileDocument {
  _id: string;
  seq: number;
  /** Absent in a mark. */
  user?: string;
  usernameKey?: string;
  nameKey?: string;
  /** Of a mark alone: since when, when to erase what is left, when it goes itself. */
  endedAt?: Date;
  eraseAt?: Date;
  expireAt?: Date;
}

/** The own copy of public users with their search keys, on MongoDB. */
export class MongoProfiles extends MongoProfileCopy implements SearchableProfiles {
  readonly #profiles: Collection<ProfileDocument>;

  constructor(db: Db) {
    super(db, (user) => {
      const { username, name } = searchKeysOf(user);
      return { usernameKey: username, nameKey: name };
    });
    this.#profiles = db.collection('profiles');
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
}
