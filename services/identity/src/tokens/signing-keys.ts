import { CannotOpen, type Secrets, StartError } from '@kith/base';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';
import { type KeyStore, type SigningKey, sealedFor } from '../store/index.ts';

/** The algorithm of access tokens. Whoever verifies a token accepts only this algorithm (spec#auth-algorithms). */
export const algorithm = 'RS256';
/** How long an access token is valid (spec#accounts-access-token). */
export const accessLifetimeMs = 30 * 60_000;

/** The times in a key's lifetime, in ms. */
export interface KeyTimes {
  /**
   * A key begins to sign this long after it was made. Replicas, gateways and HTTP caches use a key set for a shorter time than
   * this before they read it again. So all of them know the key before the first token is signed with it.
   */
  announceMs: number;
  /** How long a replica uses the keys that it has read from the store, before it reads them again. */
  reloadMs: number;
  /** How long a key still verifies tokens after the next key has begun to sign. */
  verifyMs: number;
  /** Age at which the signing key is replaced automatically. */
  maxAgeMs: number;
}

export const keyTimes: KeyTimes = {
  announceMs: 15 * 60_000,
  reloadMs: 30_000,
  // A replica must not remove a key with which other replicas still sign. The clocks of two replicas may differ by an hour. So
  // when the next key begins to sign by this replica's clock, another replica may still sign with the older key for up to an
  // hour. 30 of the 90 minutes are a reserve.
  verifyMs: accessLifetimeMs + 90 * 60_000,
  maxAgeMs: 90 * 24 * 3600_000,
};

export type KeyState = 'published' | 'signing' | 'verifying';

/**
 * The stored keys of access tokens. A key is first published, then signs, then only verifies, and is then removed. The state of
 * a key depends only on its stored times and on the clock. So replicas know the state without communication. Their clocks may
 * differ by an hour.
 */
export class SigningKeys {
  readonly #store: KeyStore;
  readonly #secrets: Secrets;
  readonly #times: KeyTimes;
  #stored: readonly SigningKey[] = [];
  /** Ids of revoked keys. Such keys are not used, even if the store still has them. */
  readonly #revoked = new Set<string>();
  /**
   * `#heard` counts the notices of revocations. `#read` is the number of notices that had arrived before the store was last
   * read.
   */
  #heard = 0;
  #read = 0;
  #settling: Promise<void> | undefined;
  /**
   * The readings of the store are numbered in the order in which they begin. `#begun` is the number of the last reading, and
   * `#taken` is the highest number of a reading whose result was used.
   */
  #begun = 0;
  #taken = 0;

  private constructor(store: KeyStore, secrets: Secrets, times: KeyTimes) {
    this.#store = store;
    this.#secrets = secrets;
    this.#times = times;
  }

  /**
   * Reads the keys, and makes a key if there is none. Replicas that start at the same time share the key that was stored first.
   * Throws `StartError` if the keys were sealed under a secret that is not configured.
   */
  static async open(store: KeyStore, secrets: Secrets, times: KeyTimes = keyTimes): Promise<SigningKeys> {
    const keys = new SigningKeys(store, secrets, times);
    await keys.#reload();
    if (keys.#stored.length === 0) await keys.#add(1, new Date());
    checkSeal(keys.#stored, secrets);
    return keys;
  }

  /** The private key. Throws `CannotOpen`. */
  unseal({ sealed, kid }: SigningKey): JWK {
    return JSON.parse(this.#secrets.open(sealedFor.signing, sealed, kid).toString());
  }

  /** The keys that verify tokens now or will later, newest first. */
  current(at = Date.now()): readonly SigningKey[] {
    return this.#stored.filter((key) => !this.#isOver(key, at));
  }

  /** The newest key that is already allowed to sign; if there is none, the oldest key. */
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

  /**
   * Makes the next key, unless there is already a key that does not sign yet. If several replicas do this at the same time,
   * they make only one key.
   */
  async rotate(): Promise<void> {
    await this.#reload();
    const [newest] = this.#stored;
    if (!newest || newest.signsFrom.getTime() > Date.now()) return;
    await this.#add(newest.ordinal + 1, new Date(Date.now() + this.#times.announceMs));
  }

  /**
   * Takes a key out of use, permanently. If the key is the signing key, a new key replaces it. If the process dies meanwhile,
   * any other process finishes the work. Returns `false` if no key has or had this id.
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
   * Resolves when the keys were read after the latest notice of a revocation. Then the keys that replace revoked keys are
   * known. Rejects if the store cannot be read.
   */
  async settled(): Promise<void> {
    while (this.#read < this.#heard) {
      this.#settling ??= this.#reload().finally(() => {
        this.#settling = undefined;
      });
      await this.#settling;
    }
  }

  /** Reads the keys again, removes keys that no longer verify, and makes the next key if the newest key is too old. */
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
      // The new key gets the `signsFrom` of the revoked key. So all replicas sign with the new key immediately, no matter how
      // their clocks differ.
      else await this.#store.replace(key.kid, await this.#generate(key.ordinal, key.signsFrom));
    }
    if (revoked.length > 0) stored = await this.#store.list();
    // If a reading that began later has already ended, the result of this one is older, and is not used.
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
    // The id must not begin with a dash: on a command line, it would look like an option.
    const kid = (await calculateJwkThumbprint(privateJwk)).replace(/^-/, '_');
    const sealed = this.#secrets.seal(sealedFor.signing, JSON.stringify(privateJwk), kid);
    return { ordinal, kid, publicJwk: { n, e }, sealed, signsFrom, createdAt: new Date() };
  }

  #isOver(key: SigningKey, at: number): boolean {
    // The next key that is still stored. Its ordinal may be higher than `key.ordinal + 1`, because revoked keys are removed.
    const next = this.#stored.findLast(({ ordinal }) => ordinal > key.ordinal);
    return next !== undefined && next.signsFrom.getTime() + this.#times.verifyMs <= at;
  }
}

/**
 * Throws `StartError` if the key that signs was sealed under a secret that is not among `secrets`.
 * @param keys All keys, newest first.
 */
export function checkSeal(keys: readonly SigningKey[], secrets: Secrets): void {
  const key = signingOf(keys, Date.now());
  if (!key) return;
  try {
    secrets.open(sealedFor.signing, key.sealed, key.kid);
  } catch (error) {
    if (!(error instanceof CannotOpen)) throw error;
    throw new StartError(
      'KITH_SECRET: the signing keys in the database were sealed under another secret. Set KITH_SECRET to that secret, or add it to KITH_SECRET_PREVIOUS.',
      { cause: error },
    );
  }
}

function signingOf(keys: readonly SigningKey[], at: number): SigningKey | undefined {
  // If this machine's clock is slow, all `signsFrom` may still lie in the future. In this case, the oldest key signs.
  return keys.find(({ signsFrom }) => signsFrom.getTime() <= at) ?? keys.at(-1);
}
