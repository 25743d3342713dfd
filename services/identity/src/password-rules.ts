import { hash } from 'node:crypto';
import { ApiError } from '@kith/base';
import type { User } from './store/index.ts';

/**
 * The list contains the hash (base64url) of each common password, cut off after this many characters.
 * `tools/common-passwords.ts`, which writes the list, uses the same number.
 */
const hashCharacters = 6;

let list: Promise<Set<string>> | undefined;

/**
 * Refuses a new password that an attacker would try first. Such passwords are the 10,000 most common passwords, and the user's
 * own e-mail address or username (spec#accounts-common-password). Upper or lower case does not matter, nor do different
 * encodings of one character. Throws `auth/weak-password`.
 * @param password At most 256 characters long, because normalising a longer password may take seconds.
 * @param field The input field that contains the password.
 */
export async function refuseWeak(
  password: string,
  { email, username }: { email?: string | null; username?: User['username'] | undefined },
  field: string,
): Promise<void> {
  const plain = plainOf(password);
  if ([email, username].some((name) => name && plainOf(name) === plain)) {
    const message = `${field} must not be the e-mail address or the username.`;
    throw new ApiError('auth/weak-password', { message, field });
  }
  await refuseCommon(password, field);
}

/**
 * Like `refuseWeak`, but refuses only common passwords. An operation calls it before it looks up the user, because a bad body is
 * refused before a missing target (spec#errors-check-order).
 */
export async function refuseCommon(password: string, field: string): Promise<void> {
  list ??= import('./common-passwords.ts').then(({ commonPasswords }) => setOf(commonPasswords));
  if ((await list).has(hash('sha256', plainOf(password), 'base64url').slice(0, hashCharacters))) {
    const message = `${field} must not be one of the most used passwords.`;
    throw new ApiError('auth/weak-password', { message, field });
  }
}

function plainOf(text: string): string {
  return text.normalize('NFKC').toLowerCase().trim();
}

function setOf(hashes: string): Set<string> {
  const set = new Set<string>();
  for (let at = 0; at < hashes.length; at += hashCharacters) set.add(hashes.slice(at, at + hashCharacters));
  return set;
}
