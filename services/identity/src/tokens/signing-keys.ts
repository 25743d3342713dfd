import { CannotOpen, type Secrets, StartError } from '@kith/base';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';
import { type KeyStore, type SigningKey, sealedFor } from '../store/index.ts';

/** The algorithm of access tokens; verifiers pin it (spec#auth-algorithms). */
export const algorithm = 'RS256';
/** How long an access token is valid (spec#accounts-access-token). */
export const accessLifetimeMs = 30 * 60_000;

/** The times in a key's lifetime, in ms. */
export interface KeyTimes {
  /** From the making of a key until it signs: longer than replicas, gateways and HTTP caches keep an older key set. */
  announceMs: number;
  /** How old a replica's knowledge of the keys may be. */
  reloadMs: number;
  /** How long a key verifies after the next one has begun to sign. */
  verifyMs: number;
  /** Age at which the signing key is replaced automatically. */
  maxAgeMs: number;
}

export const keyTimes: KeyTimes = {
  announceMs: 15 * 60_000,
  reloadMs: 30_000,
  // A replica whose clock is an hour ahead must not remove the key that the others still sign with, and a replica an hour
  // behind goes on signing with it.
  verifyMs: accessLifetimeMs + 90 * 60_000,
  maxAgeMs: 90 * 24 * 3600_000,
};

export type KeyState = 'published' | 'signing' | 'verifying';

/**
 * The stored keys of access tokens. A key is published, then signs, then only verifies, then is removed. These states follow
 * from the clock alone, so that replicas agree without talking to each other; clocks may differ by an hour.
 */
export class SigningKeys {
  readonly #store: KeyStore;
  readonly #secrets: Secrets;
  readonly #times: KeyTimes;
  #stored: readonly SigningKey[] = [];
  /** Ids of revoked keys: they are not used even if the store still has them. */
  readonly #revoked = new Set<string>();
  /** How many revocations were heard of, and for how many of them the store was read afterwards. */
  #heard = 0;
  #read = 0;
  #settling: Promise<void> | undefined;
  /** How many readings of the store were begun, and the number of the last one whose result was used. */
  #begun = 0;
  #taken = 0;

  private constructor(store: KeyStore, secrets: Secrets, times: KeyTimes) {
    this.#store = store;
    this.#secrets = secrets;
    this.#times = times;
  }

  /**
   * Reads the keys; makes one if there is none. Replicas that start at the same time share the key that was stored first.
   * Throws `StartError` if the keys were sealed under a secret that is not configured.
   */
  static async open(store: KeyStore, secrets: Secrets, times: KeyTimes = keyTimes): Promise<SigningKeys> {
    const keys = new SigningKeys(store, secrets, times);
    await keys.#reload();
    if (keys.#stored.length === 0) await keys.#add(1, new Date());
    keys.#checkSeal();
    return keys;
  }

  /** The private key. Throws `CannotOpen`. */
  unseal({ sealed, kid }: SigningKey): JWK {
    return JSON.parse(this.#secrets.open(sealedFor.signing, sealed, kid).toString());
  }

  #checkSeal(): void {
    try {
      this.unseal(this.signing());
    } catch (error) {
      if (!(error instanceof CannotOpen)) throw error;
      throw new StartError(
        'KITH_SECRET: the signing keys in the database were sealed under another secret; give that one, or name it in KITH_SECRET_PREVIOUS beside a new one.',
        { cause: error },
      );
    }
  }

  /** The keys that verify now or will, newest first. */
  current(at = Date.now()): readonly SigningKey[] {
    return this.#stored.filter((key) => !this.#isOver(key, at));
  }

  /** The newest key that is already allowed to sign. */
  signing(at = Date.now()): SigningKey {
    const key = signingOf(this.#stored, at);
    if (!key) throw new Error('There is no key to sign access tokens with.');
    return key;
  }

  /** The present state of a key. */
  stateOf(key: SigningKey, at = Date.now()): KeyState {
    if (key.ordinal === this.signing(at).ordinal) return 'signing';
    return key.signsFrom.getTime() > at ? 'published' : 'verifying';
  }

  /** Makes the next key, unless one already waits to sign. Replicas that do so at the same time make only one. */
  async rotate(): Promise<void> {
    await this.#reload();
    const [newest] = this.#stored;
    if (!newest || newest.signsFrom.getTime() > Date.now()) return;
    await this.#add(newest.ordinal + 1, new Date(Date.now() + this.#times.announceMs));
  }

  /**
   * Takes a key out of use; the signing key is replaced by a new one. If the process dies meanwhile, any other finishes this.
   * Returns `false` if no key has, or had, this id.
   */
  async revoke(kid: string): Promise<boolean> {
    await this.#reload();
    if (this.#revoked.has(kid)) return true;
    if (this.#stored.every((key) => key.kid !== kid)) return false;
    await this.#store.revoke(kid, new Date());
    await this.#reload();
    return true;
  }

  /** Stops using these keys, which another replica has revoked. */
  hearRevoked(kids: readonly string[]): void {
    for (const kid of kids) this.#revoked.add(kid);
    this.#heard += 1;
    this.#stored = this.#usable(this.#stored);
  }

  /**
   * Resolves when the keys were read again after every revocation that was heard, so that the successors are known. Rejects if
   * the store cannot be read.
   */
  async settled(): Promise<void> {
    while (this.#read < this.#heard) {
      this.#settling ??= this.#reload().finally(() => {
        this.#settling = undefined;
      });
      await this.#settling;
    }
  }

  /** Reads the keys again, removes those that are over, and rotates by age. */
  async keepUp(): Promise<void> {
    await this.#reload();
    const now = Date.now();
    for (const key of this.#stored) if (this.#isOver(key, now)) await this.#store.remove(key);
    const age = now - (this.#stored[0]?.signsFrom.getTime() ?? now);
    if (age >= this.#times.maxAgeMs) await this.rotate();
  }

  async #reload(): Promise<void> {
    this.#begun += 1;
    const reading = this.#begun;
    const heard = this.#heard;
    for (const kid of await this.#store.revoked()) this.#revoked.add(kid);
    let stored = await this.#store.list();
    const signing = signingOf(stored, Date.now());
    const revoked = stored.filter(({ kid }) => this.#revoked.has(kid));
    for (const key of revoked) {
      if (key !== signing) await this.#store.remove(key);
      // The new key has the same `signsFrom`, so that all replicas sign with it immediately, whatever their clocks say.
      else await this.#store.replace(key.kid, await this.#generate(key.ordinal, key.signsFrom));
    }
    if (revoked.length > 0) stored = await this.#store.list();
    // A reading that began earlier must not overwrite the result of a later one.
    if (reading < this.#taken) return;
    this.#taken = reading;
    this.#stored = this.#usable(stored);
    this.#read = Math.max(this.#read, heard);
  }

  #usable(keys: readonly SigningKey[]): readonly SigningKey[] {
    return keys.filter(({ kid }) => !this.#revoked.has(kid));
  }

  async #add(ordinal: number, signsFrom: Date): Promise<void> {
    await this.#store.add(await this.#generate(ordinal, signsFrom));
    await this.#reload();
  }

  async #generate(ordinal: number, signsFrom: Date): Promise<SigningKey> {
    const { privateKey } = await generateKeyPair(algorithm, { modulusLength: 2048, extractable: true });
    const privateJwk = await exportJWK(privateKey);
    const { n = '', e = '' } = privateJwk;
    // A command line would take an id that begins with a dash for an option.
    const kid = (await calculateJwkThumbprint(privateJwk)).replace(/^-/, '_');
    const sealed = this.#secrets.seal(sealedFor.signing, JSON.stringify(privateJwk), kid);
    return { ordinal, kid, publicJwk: { n, e }, sealed, signsFrom, createdAt: new Date() };
  }

  #isOver(key: SigningKey, at: number): boolean {
    // The key right after it may have been revoked.
    const next = this.#stored.findLast(({ ordinal }) => ordinal > key.ordinal);
    return next !== undefined && next.signsFrom.getTime() + this.#times.verifyMs <= at;
  }
}

function signingOf(keys: readonly SigningKey[], at: number): SigningKey | undefined {
  // If this clock is behind the one that made the only key, no key's time to sign has come yet.
  return keys.find(({ signsFrom }) => signsFrom.getTime() <= at) ?? keys.at(-1);
}
