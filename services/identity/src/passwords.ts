import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { Gate } from './gate.ts';
import { importedHash, importedKind, nobodysHash, verifyImported } from './imported-hash.ts';

const deriveKey = promisify(argon2);

/** The functions that compute hashes. Tests replace them. */
export interface HashWork {
  derive: typeof derive;
  verifyImported: typeof verifyImported;
}

interface Hashed {
  memory: number;
  passes: number;
  parallelism: number;
  salt: Buffer;
  hash: Buffer;
}

/**
 * The cost of a hash, as the OWASP Password Storage Cheat Sheet recommends it: argon2id with 19 MiB, two passes and one lane.
 */
const cost = { memory: 19 * 1024, passes: 2, parallelism: 1 };
const saltBytes = 16;
const hashBytes = 32;
// Computing a hash takes 19 MiB and one of libuv's four threads. DNS look-ups and signatures need these threads, too, so hashes
// must not occupy all of them.
const atOnce = Math.min(3, availableParallelism());

/** Hashes and verifies passwords, a few at a time, so that a burst of sign-ups cannot use up the memory. */
export class Passwords {
  readonly #gate = new Gate(atOnce);
  // Computing a hash of another backend may take 40 times as long as computing our own. So imported hashes have a gate of their
  // own, and users with our own hashes need not wait for them.
  readonly #importedGate = new Gate(1);
  // If no user has the given address, the password is checked against this hash. No password matches this hash.
  readonly #nobody = { ...cost, salt: randomBytes(saltBytes), hash: randomBytes(hashBytes) };
  readonly #nobodies = new Map<string, string>();
  readonly #work: HashWork;

  constructor(work: HashWork = { derive, verifyImported }) {
    this.#work = work;
  }

  /**
   * Hashes a password as a PHC string. If `deadline` (Unix ms) passes before it is the turn of this password, throws
   * `DeadlinePassed`.
   */
  async hash(password: string, deadline: number): Promise<string> {
    const salt = randomBytes(saltBytes);
    const hash = await this.#gate.run(deadline, () =>
      this.#work.derive(password, { ...cost, salt, bytes: hashBytes }),
    );
    return formatPhc({ ...cost, salt, hash });
  }

  /**
   * Returns whether a password matches a stored hash: our own PHC string, or an imported hash. `hash` is null if there is no
   * user with the given address. In this case, the result is `false`, and the check takes as long as the check of one of our
   * own hashes.
   */
  async verify(password: string, hash: string | null, deadline: number): Promise<boolean> {
    const imported = importedHash(hash);
    if (imported !== null) return this.#verifyImported(password, imported, deadline);
    const stored = hash === null ? this.#nobody : parsePhc(hash);
    const given = await this.#gate.run(deadline, () =>
      this.#work.derive(password, { ...stored, bytes: stored.hash.length }),
    );
    return timingSafeEqual(given, stored.hash);
  }

  /**
   * Must be called only after `verify` has returned `false` for the password. `verify` must have got the user's hash if this
   * hash is one of our own, and null otherwise. Returns whether the password matches the user's imported hash. Before it
   * returns `false`, one hash of each kind that was imported into the project is computed. So a refusal takes equally long for
   * all users of a project, no matter which kinds of hashes they have. A refusal takes just as long for an address that nobody
   * has.
   * @param hash The user's stored hash: imported, our own, or null if there is no such user.
   * @param of.kinds The kinds of hashes that were imported into the project.
   */
  async verifyOthers(
    password: string,
    hash: string | null,
    { kinds, deadline }: { kinds: readonly string[]; deadline: number },
  ): Promise<boolean> {
    const own = importedKind(hash);
    if (own !== null && (await this.verify(password, hash, deadline))) return true;
    for (const kind of kinds.filter((one) => one !== own)) {
      const nobodys = this.#nobodies.get(kind) ?? nobodysHash(kind);
      this.#nobodies.set(kind, nobodys);
      await this.#verifyImported(password, nobodys, deadline);
    }
    return false;
  }

  #verifyImported(password: string, hash: string, deadline: number): Promise<boolean> {
    return this.#importedGate.run(deadline, () => this.#work.verifyImported(password, hash));
  }
}

export function derive(
  password: string,
  { memory, passes, parallelism, salt, bytes }: Omit<Hashed, 'hash'> & { bytes: number },
): Promise<Buffer> {
  // Depending on keyboard and system, the same password can be encoded in several ways in Unicode. So it is normalised first
  // (NIST SP 800-63B 5.1.1.2).
  const message = password.normalize('NFKC');
  return deriveKey('argon2id', { message, nonce: salt, memory, passes, parallelism, tagLength: bytes });
}

const phcPattern = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

function formatPhc({ memory, passes, parallelism, salt, hash }: Hashed): string {
  const base64 = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$${base64(hash)}`;
}

function parsePhc(phc: string): Hashed {
  const [, memory, passes, parallelism, salt, hash] = phcPattern.exec(phc) ?? [];
  if (!salt || !hash) throw new Error('A stored password hash cannot be read.');
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  };
}
