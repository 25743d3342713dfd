import { hash, type KeyObject } from 'node:crypto';
import { readSigningKey } from './signing-key.ts';

interface Kept {
  key: KeyObject;
  timer: NodeJS.Timeout;
}

/**
 * Keys that were first sent within the last minute. These keys stay only in memory, indexed by the SHA-256 of the text that was
 * sent. OpenSSL prepares each key object at its first signature. A new object for every request took 530–640 µs of CPU time. A
 * reused object took half of that, 255–285 µs (measured side by side; docs/adr/0021).
 */
export class SigningKeys {
  readonly #kept = new Map<string, Kept>();
  readonly #max: number;
  readonly #lifeMs: number;

  /** @param options.lifeMs How long a key is kept after it was first sent, whether or not it is used. */
  constructor(options: { max?: number; lifeMs?: number } = {}) {
    this.#max = options.max ?? 100;
    this.#lifeMs = options.lifeMs ?? 60_000;
  }

  /** How many keys are held. */
  get size(): number {
    return this.#kept.size;
  }

  /** Reads a key. If the same text was read before, returns the key that is held. Throws as `readSigningKey` does. */
  read(privateKey: string): KeyObject {
    const digest = hash('sha256', privateKey, 'base64');
    const kept = this.#kept.get(digest);
    if (kept) return kept.key;
    const key = readSigningKey(privateKey);
    const timer = setTimeout(() => this.#drop(digest), this.#lifeMs).unref();
    this.#kept.set(digest, { key, timer });
    if (this.#kept.size > this.#max) this.#drop(this.#kept.keys().next().value as string);
    return key;
  }

  /** Drops all keys. */
  clear(): void {
    for (const digest of this.#kept.keys()) this.#drop(digest);
  }

  #drop(digest: string): void {
    clearTimeout(this.#kept.get(digest)?.timer);
    this.#kept.delete(digest);
  }
}
