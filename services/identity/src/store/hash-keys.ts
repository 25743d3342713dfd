import type { Documents } from '@kith/store';
import { hashKeys } from './collections/keys.ts';

/** The purposes for which values in identity's database are sealed (docs/adr/0048). */
export const sealedFor = {
  signing: 'signing key',
  hashing: 'key of keyed hashes',
  totp: 'totp',
  address: 'mail-address',
} as const;

const id = 'current';

/** The key for keyed hashes. */
export class HashKeys {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** The id to which the sealed key is bound: it can be opened only with this id. */
  readonly id = id;

  /** The sealed key; `undefined` if there is none yet. */
  async find(): Promise<string | undefined> {
    return (await this.#documents.get(hashKeys, [id])).get(id)?.doc.sealed;
  }

  /** Stores a key, unless a key is already stored. */
  async add(sealed: string): Promise<void> {
    await this.#documents.change([{ in: hashKeys, target: id, set: { sealed } }]);
  }
}
