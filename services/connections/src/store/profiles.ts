import { ProfileCopy } from '@kith/service';
import type { Documents } from '@kith/store';
import { profiles } from './collections.ts';

/** What a user is found by, folded; empty where the user has none. */
export type SearchKey = 'username' | 'name';

/** The own copy of public users, with what they are found by. */
export class Profiles extends ProfileCopy {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    super(documents, profiles);
    this.#documents = documents;
  }

  /** What these users are found by (spec#connections-search), for those there is a profile of. */
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
