import type { Documents, Stored } from '@kith/store';
import type { ListPage, ListRange } from '../listing.ts';
import { apiKeys, keyUses, type StoredApiKey } from './collections/keys.ts';
import { everything, lastIn, projectIn, within } from './keys-of.ts';
import type { ApiKey } from './records.ts';

/** A key, with the time of its last use. */
export type ListedApiKey = ApiKey & { lastUsedAt: Date | null };

const batch = 1_000;

/** The first part of the ids of operators' keys; ids of server keys begin with the project. */
const operators = '-';
/** Null for the keys of operators; the id of a project for the server keys of this project. */
type Owner = string | null;

/** The keys of operators, and server keys. */
export class ApiKeys {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  async add(key: ApiKey): Promise<void> {
    const { id, projectId, hash, name, scopes, projectIds, expiresAt, createdAt } = key;
    const set = {
      ...{ hash, name, scopes, projectIds, createdAt: createdAt.getTime() },
      expiresAt: expiresAt?.getTime() ?? null,
    };
    const [outcome] = await this.#documents.change([{ in: apiKeys, target: keyOf(projectId, id), set }]);
    if (outcome !== 'made') throw new Error(`There is a key with the new id ${id}.`);
  }

  /** The keys of operators, or of a project, newest first. */
  async list(owner: Owner, { from, limit }: ListRange): Promise<ListPage<ListedApiKey>> {
    const own = within(owner ?? operators);
    const { above, below } = own;
    const range = { above: 'after' in from ? `${above}${from.after}` : above, below };
    const skip = 'skip' in from ? from.skip : 0;
    const [total, found] = await Promise.all([
      this.#documents.count(apiKeys, own, 'place'),
      this.#documents.range(apiKeys, { ...range, skip, limit }, 'place'),
    ]);
    const uses = await this.#documents.get(
      keyUses,
      found.map(({ id }) => id),
    );
    const rows = found.map((stored) => {
      const use = uses.get(stored.id);
      return { ...apiKeyOf(stored), lastUsedAt: use ? new Date(use.doc.at) : null };
    });
    return { rows, total };
  }

  /** All keys after `place`, in the order of their stored ids. To read the next page, give the `place` of the last key. */
  async after(place: string, limit: number): Promise<(ApiKey & { place: string })[]> {
    const found = await this.#documents.range(apiKeys, { ...everything, above: place, limit });
    return found.map((stored) => ({ ...apiKeyOf(stored), place: stored.id }));
  }

  /** Removes a key permanently; returns the removed key, or null if there was none. */
  async remove(owner: Owner, id: string): Promise<ApiKey | null> {
    const key = keyOf(owner, id);
    const stored = (await this.#documents.get(apiKeys, [key])).get(key);
    if (!stored) return null;
    const [outcome] = await this.#documents.change([{ in: apiKeys, target: stored, set: null }]);
    if (outcome !== 'made') return null;
    await this.#documents.clearIds(keyUses, [key]);
    return apiKeyOf(stored);
  }

  /** Removes all keys of a project permanently. Idempotent. Throws while some events of these keys are not published yet. */
  async forget(projectId: string): Promise<void> {
    for (;;) {
      const found = await this.#documents.range(apiKeys, { ...within(projectId), limit: batch });
      if (found.length === 0) break;
      const erased = await this.#documents.eraseAll(apiKeys, found);
      if (erased === 0)
        throw new Error('The keys of a project cannot be removed before their events are published.');
    }
    while ((await this.#documents.clear(keyUses, { ...within(projectId), limit: batch })) > 0);
  }

  /**
   * Stores the times at which keys were last used. `uses` contains the hash of each key, and the time. A time that is earlier
   * than the stored one is ignored.
   */
  async noteUses(uses: ReadonlyMap<string, Date>): Promise<void> {
    const found = await this.#documents.by(apiKeys, 'hash', [...uses.keys()]);
    const copies = [...found].flatMap(([hash, keys]) => {
      const at = uses.get(hash)?.getTime() ?? 0;
      return keys.map(({ id }) => ({ id, doc: { at }, epoch: 0, version: at }));
    });
    if (copies.length > 0) await this.#documents.keep(keyUses, copies);
  }
}

function keyOf(owner: Owner, id: string): string {
  return `${owner ?? operators}|${id}`;
}

function apiKeyOf({ id, doc }: Stored<StoredApiKey>): ApiKey {
  const { createdAt, expiresAt } = doc;
  const owner = projectIn(id);
  return {
    ...doc,
    id: lastIn(id),
    projectId: owner === operators ? null : owner,
    createdAt: new Date(createdAt),
    expiresAt: expiresAt === null ? null : new Date(expiresAt),
  };
}
