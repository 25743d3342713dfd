import { ProfileCopy } from '@kith/service';
import type { Documents } from '@kith/store';
import { profiles } from './collections.ts';

/**
 * A field by which a search finds users. The store holds the field's folded text (see `fold`), which is empty if the user does
 * not have the field.
 */
export type SearchKey = 'username' | 'name';

/** This service's copy of public users, with their search keys. */
export class Profiles extends ProfileCopy {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    super(documents, profiles);
    this.#documents = documents;
  }

  /**
   * Returns the search keys of these users (spec#connections-search). Leaves out users whose profile this service does not
   * have.
   */
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
