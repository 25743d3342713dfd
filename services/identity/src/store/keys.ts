import { type Documents, type StoreConfig, type Stored, timeKey } from '@kith/store';
import { readDocuments } from '@kith/store/open';
import { keys, revokedKeys, type StoredKey } from './collections/keys.ts';
import { everything } from './keys-of.ts';
import type { SigningKey } from './records.ts';

/** The maximum number of keys that one read returns. There are never so many keys, so one read returns all of them. */
const most = 10_000;

/** The signing keys of access tokens, and the ids of revoked ones. */
export class Keys {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** Stores a key unless its ordinal is taken. */
  async add(key: SigningKey): Promise<void> {
    await this.#documents.change([{ in: keys, target: idOf(key), set: storedOf(key) }]);
  }

  /** All keys, newest first. */
  async list(): Promise<SigningKey[]> {
    const found = await this.#documents.range(keys, { ...everything, limit: most, backwards: true });
    return found.map(keyOf);
  }

  /** Removes a key. Does nothing if another key, or none, is now stored under the ordinal of the given key. */
  async remove(key: Pick<SigningKey, 'ordinal' | 'kid'>): Promise<void> {
    const stored = await this.#find(key);
    if (stored) await this.#documents.erase(keys, stored);
  }

  /**
   * Replaces the key `kid` by `key`, which has the same ordinal. Does nothing if `kid` is no longer stored under this ordinal.
   */
  async replace(kid: string, key: SigningKey): Promise<void> {
    const target = await this.#find({ ordinal: key.ordinal, kid });
    if (target) await this.#documents.change([{ in: keys, target, set: storedOf(key), erases: true }]);
  }

  /** Records permanently that a key is revoked. Idempotent. */
  async revoke(kid: string, at: Date): Promise<void> {
    await this.#documents.keep(revokedKeys, [{ id: kid, doc: { at: at.getTime() }, epoch: 0, version: 1 }]);
  }

  /** The ids of all revoked keys. */
  async revoked(): Promise<string[]> {
    return (await this.#documents.range(revokedKeys, { ...everything, limit: most })).map(({ id }) => id);
  }

  async #find({ ordinal, kid }: Pick<SigningKey, 'ordinal' | 'kid'>) {
    const id = idOf({ ordinal });
    const stored = (await this.#documents.get(keys, [id])).get(id);
    return stored?.doc.kid === kid ? stored : undefined;
  }
}

function idOf({ ordinal }: Pick<SigningKey, 'ordinal'>): string {
  return timeKey(ordinal);
}

/** Reads all keys from a database, newest first, and changes nothing. Rejects when the database cannot be read. */
export async function readKeys(config: StoreConfig): Promise<SigningKey[]> {
  return (await readDocuments(config, keys)).map(keyOf).toReversed();
}

function keyOf({ id, doc: { signsFrom, createdAt, ...key } }: Stored<StoredKey>): SigningKey {
  return { ordinal: Number(id), ...key, signsFrom: new Date(signsFrom), createdAt: new Date(createdAt) };
}

function storedOf({ ordinal, signsFrom, createdAt, ...key }: SigningKey): StoredKey {
  return { ...key, signsFrom: signsFrom.getTime(), createdAt: createdAt.getTime() };
}
