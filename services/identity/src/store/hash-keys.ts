import type { Documents } from '@kith/store';
import { hashKeys } from './collections.ts';

/** What is sealed in identity's database, by its purpose (docs/adr/0048). */
export const sealedFor = { signing: 'signing key', hashing: 'key of keyed hashes', totp: 'totp' } as const;

const id = 'current';

/** The key of keyed hashes. */
export class HashKeys {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** What it is bound to. */
  readonly id = id;

  /** The sealed key; `undefined` where there is none yet. */
  async find(): Promise<string | undefined> {
    return (await this.#documents.get(hashKeys, [id])).get(id)?.doc.sealed;
  }

  /** Stores a key unless there is one. */
  async add(sealed: string): Promise<void> {
    await this.#documents.change([{ in: hashKeys, target: id, set: { sealed } }]);
  }
}
