import { ProfileCopy } from '@kith/service';
import type { Documents } from '@kith/store';
import { profiles } from './collections.ts';

/** The field by which a user is found. It is stored folded, and is empty if the user has none. */
export type SearchKey = 'username' | 'name';

/** This service's copy of public users, with their search keys. */
export class Profiles extends ProfileCopy {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    super(documents, profiles);
    this.#documents = documents;
  }

  /** The search keys of these users (spec#connections-search); users whose profile is not held are left out. */
  async searchKeys<Key extends SearchKey>(
    projectId: string,
    userIds: readonly string[],
    keys: readonly Key[],
  ): Promise<Map<string, Record<Key, string>>> {
    const prefix = `${projectId}|`;
    const ids = userIds.map((userId) => prefix + userId);
    const found = await this.#documents.texts(profiles, ids, keys);
    return new Map([...found].map(([id, texts]) => [id.slice(prefix.length), texts]));
  }
}
