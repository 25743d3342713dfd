import type { Documents, Stored } from '@kith/store';
import type { ListPage, ListRange } from '../listing.ts';
import { apiKeys, keyUses, type StoredApiKey } from './collections.ts';
import { everything, lastIn, within } from './keys-of.ts';
import type { ApiKey } from './records.ts';

/** A key with its last use. */
export type ListedApiKey = ApiKey & { lastUsedAt: Date | null };

/** Whose the keys of operators are: ids begin with it. */
const operators = '-';

/** The keys of operators. */
export class ApiKeys {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  async add(key: ApiKey): Promise<void> {
    const { id, hash, name, scopes, projectIds, expiresAt, createdAt } = key;
    const set = {
      ...{ hash, name, scopes, projectIds, createdAt: createdAt.getTime() },
      expiresAt: expiresAt?.getTime() ?? null,
    };
    const [outcome] = await this.#documents.change([{ in: apiKeys, target: keyOf(id), set }]);
    if (outcome !== 'made') throw new Error(`There is a key with the new id ${id}.`);
  }

  /** The keys of operators, newest first. */
  async list({ from, limit }: ListRange): Promise<ListPage<ListedApiKey>> {
    const { above, below } = within(operators);
    const range = { above: 'after' in from ? `${above}${from.after}` : above, below };
    const skip = 'skip' in from ? from.skip : 0;
    const [total, found] = await Promise.all([
      this.#documents.count(apiKeys, within(operators), 'place'),
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

  /** All keys after one of them, by an order of their own; `place` is what the next ones come after. */
  async after(place: string, limit: number): Promise<(ApiKey & { place: string })[]> {
    const found = await this.#documents.range(apiKeys, { ...everything, above: place, limit });
    return found.map((stored) => ({ ...apiKeyOf(stored), place: stored.id }));
  }

  /** Takes a key away for good; gives what it was, or null if there is none. */
  async remove(id: string): Promise<ApiKey | null> {
    const key = keyOf(id);
    const stored = (await this.#documents.get(apiKeys, [key])).get(key);
    if (!stored || !(await this.#documents.erase(apiKeys, stored))) return null;
    await this.#documents.clearIds(keyUses, [key]);
    return apiKeyOf(stored);
  }

  /** Notes when keys, by their hashes, were used last; an earlier use than the noted one is passed over. */
  async noteUses(uses: ReadonlyMap<string, Date>): Promise<void> {
    const found = await this.#documents.by(apiKeys, 'hash', [...uses.keys()]);
    const copies = [...found].flatMap(([hash, keys]) => {
      const at = uses.get(hash)?.getTime() ?? 0;
      return keys.map(({ id }) => ({ id, doc: { at }, epoch: 0, version: at }));
    });
    if (copies.length > 0) await this.#documents.keep(keyUses, copies);
  }
}

function keyOf(id: string): string {
  return `${operators}|${id}`;
}

function apiKeyOf({ id, doc }: Stored<StoredApiKey>): ApiKey {
  const { createdAt, expiresAt } = doc;
  return {
    ...doc,
    id: lastIn(id),
    createdAt: new Date(createdAt),
    expiresAt: expiresAt === null ? null : new Date(expiresAt),
  };
}
