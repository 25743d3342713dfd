import { argon2, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { passwordHashKind } from '@kith/contracts';
import { compareBcrypt } from './bcrypt.ts';

/**
 * The beginning of a stored hash that another backend has made. Such a hash was made from the password as given, without
 * normalization.
 */
const mark = 'imported:';

const argon2Async = promisify(argon2);
const scryptAsync = promisify<
  string,
  Buffer,
  number,
  { N: number; r: number; p: number; maxmem: number },
  Buffer
>(scrypt);

/** Marks a hash of another backend. The marked hash is stored until the user signs in. */
export function markImported(hash: string): string {
  return mark + hash;
}

/** The other backend's hash inside a stored hash; null if the stored hash is our own, or if no hash is stored. */
export function importedHash(stored: string | null): string | null {
  return stored?.startsWith(mark) ? stored.slice(mark.length) : null;
}

/**
 * Returns whether a password matches another backend's hash: argon2id, scrypt or bcrypt. No hash is computed on the event loop.
 */
export async function verifyImported(password: string, hash: string): Promise<boolean> {
  if (hash.startsWith('$2')) return compareBcrypt(password, hash);
  const { name, cost, salt, wanted } = parse(hash);
  const given =
    name === 'scrypt'
      ? await scryptAsync(password, salt, wanted.length, {
          N: 2 ** (cost.ln ?? 0),
          r: cost.r ?? 0,
          p: cost.p ?? 0,
          // Node's default limit of 32 MiB is too low for some hashes that the contract accepts.
          maxmem: 512 * 1024 * 1024,
        })
      : await argon2Async('argon2id', {
          message: password,
          nonce: salt,
          memory: cost.m ?? 0,
          passes: cost.t ?? 0,
          parallelism: cost.p ?? 0,
          tagLength: wanted.length,
        });
  return timingSafeEqual(given, wanted);
}

/**
 * Makes a hash of this kind that no password matches. Checking a password against it takes as long as with any other hash of
 * this kind.
 */
export function nobodysHash(kind: string): string {
  if (kind.startsWith('$2'))
    return `${kind}$${bcryptText(randomBytes(16), 22)}${bcryptText(randomBytes(23), 31)}`;
  return `${kind}$${base64(randomBytes(16))}$${base64(randomBytes(32))}`;
}

/** The kind of another backend's stored hash; null if the stored hash is our own, or if no hash is stored. */
export function importedKind(stored: string | null): string | null {
  const hash = importedHash(stored);
  return hash === null ? null : passwordHashKind(hash);
}

function parse(hash: string) {
  const parts = hash.split('$');
  const [salt = '', wanted = ''] = parts.slice(-2);
  const cost = Object.fromEntries(
    (parts.at(-3) ?? '').split(',').map((one) => {
      const [name = '', value] = one.split('=');
      return [name, Number(value)];
    }),
  ) as Record<string, number | undefined>;
  return { name: parts[1], cost, salt: Buffer.from(salt, 'base64'), wanted: Buffer.from(wanted, 'base64') };
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}

/**
 * Text in bcrypt's alphabet. The last character encodes fewer bits than the others, so not every character is valid there. `.`
 * is valid, because all its bits are zero.
 */
function bcryptText(bytes: Buffer, length: number): string {
  return `${base64(bytes)
    .replaceAll('+', '.')
    .slice(0, length - 1)}.`;
}
