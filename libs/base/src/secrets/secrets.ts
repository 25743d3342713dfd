import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
const version = 's1';

/**
 * Thrown if a sealed text cannot be opened. Either this process does not have the secret under which the text was sealed, or
 * the text was changed, or it is bound to something else.
 */
export class CannotOpen extends Error {
  override readonly name = 'CannotOpen';
}

/**
 * Seals, hashes and signs under KITH_SECRET (docs/adr/0048). Each purpose has its own key, which is derived from the secret
 * with HKDF-SHA-256. So a result for one purpose is never valid for another purpose.
 */
export class Secrets {
  readonly #roots: readonly [Root, ...Root[]];
  #hashRoot: Root;

  /**
   * `previous` contains other secrets, which are needed while the secret is being changed. Texts that were sealed or signed
   * under these secrets are accepted too.
   */
  constructor(current: string, previous: readonly string[] = []) {
    const others = [...new Set(previous)].filter((one) => one !== current);
    this.#roots = [new Root(current), ...others.map((one) => new Root(one))];
    this.#hashRoot = this.#roots[0];
  }

  /**
   * Returns the same secrets, except that `key` is used for the keyed hashes. `key` does not change when the secret changes, so
   * the hashes do not change either.
   */
  withHashKey(key: Uint8Array): Secrets {
    const [current, ...previous] = this.#roots.map(({ secret }) => secret) as [string, ...string[]];
    const secrets = new Secrets(current, previous);
    secrets.#hashRoot = new Root(Buffer.from(key).toString('base64url'));
    return secrets;
  }

  /** Whether there are other secrets than the current one. */
  get hasPrevious(): boolean {
    return this.#roots.length > 1;
  }

  /**
   * Seals with AES-256-GCM. `bound` names what the text belongs to, such as a user's id. `open` throws if it is given
   * another `bound`.
   */
  seal(purpose: string, plain: string | Uint8Array, bound = ''): string {
    const [root] = this.#roots;
    const nonce = randomBytes(nonceBytes);
    const sealing = createCipheriv(cipher, root.key('seal', purpose), nonce);
    sealing.setAAD(Buffer.from(bound));
    const bytes = [sealing.update(plain), sealing.final()];
    const text = Buffer.concat([nonce, sealing.getAuthTag(), ...bytes]).toString('base64url');
    return `${version}.${root.id}.${text}`;
  }

  /** Opens a text that was sealed for the same purpose with the same `bound`. Throws `CannotOpen`. */
  open(purpose: string, sealed: string, bound = ''): Buffer {
    const [format, id, text = ''] = sealed.split('.');
    const root = this.#roots.find((one) => one.id === id);
    if (format !== version || !root) {
      throw new CannotOpen('The text was sealed under a KITH_SECRET that this process does not have.');
    }
    const bytes = Buffer.from(text, 'base64url');
    const nonce = bytes.subarray(0, nonceBytes);
    try {
      const opening = createDecipheriv(cipher, root.key('seal', purpose), nonce, { authTagLength: tagBytes });
      opening.setAAD(Buffer.from(bound));
      opening.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
      return Buffer.concat([opening.update(bytes.subarray(nonceBytes + tagBytes)), opening.final()]);
    } catch (error) {
      throw new CannotOpen('The text was changed after it was sealed, or is bound to something else.', {
        cause: error,
      });
    }
  }

  /** Whether a text was sealed under the current secret. */
  isCurrent(sealed: string): boolean {
    return sealed.startsWith(`${version}.${this.#roots[0].id}.`);
  }

  /**
   * A keyed hash (HMAC-SHA-256, 43 characters of base64url). Use it for a text that an attacker could otherwise find by trying
   * all possible texts.
   */
  hash(purpose: string, text: string): string {
    return this.#hashRoot.mac('hash', purpose, text);
  }

  /**
   * Signs a text, so that any process that has one of these secrets can verify it. The result has one signature per secret,
   * joined by `.`.
   */
  sign(purpose: string, text: string): string {
    return this.#roots.map((root) => root.mac('sign', purpose, text)).join('.');
  }

  /** Whether a text was signed with one of these secrets. */
  verifies(purpose: string, text: string, signatures: string): boolean {
    const given = signatures.split('.', mostSignatures).map((one) => Buffer.from(one));
    return this.#roots.some((root) => {
      const expected = Buffer.from(root.mac('sign', purpose, text));
      return given.some((one) => one.length === expected.length && timingSafeEqual(one, expected));
    });
  }
}

/**
 * At most this many signatures of a text are checked. This is enough, because even while the secret is being changed, no
 * process has more secrets than this.
 */
const mostSignatures = 8;

/** One secret, and the keys that are derived from it. */
class Root {
  /** Identifies the secret without revealing it. */
  readonly id: string;
  readonly secret: string;
  readonly #keys = new Map<string, Buffer>();

  constructor(secret: string) {
    this.secret = secret;
    this.id = this.key('name', '').toString('base64url').slice(0, 8);
  }

  key(use: string, purpose: string): Buffer {
    const info = `kith ${use} ${purpose}`;
    const known = this.#keys.get(info);
    if (known) return known;
    const key = Buffer.from(hkdfSync('sha256', this.secret, '', info, 32));
    this.#keys.set(info, key);
    return key;
  }

  mac(use: string, purpose: string, text: string): string {
    return createHmac('sha256', this.key(use, purpose)).update(text).digest('base64url');
  }
}
