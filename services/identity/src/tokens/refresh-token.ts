import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

const familyBytes = 18;
const secretBytes = 33;
/** Each part is a multiple of three bytes, so that a token has one spelling and its parts stand side by side. */
const familyLength = (familyBytes / 3) * 4;
const tokenForm = /^[\w-]{68}$/;

/**
 * Makes a refresh token: 144 random bits that its family shares and 264 of its own, as base64url. It is shown once and
 * only its hash stored (spec#accounts-refresh-token).
 * @param of A token of the family it is to belong to; none begins one.
 */
export function makeRefreshToken(of?: string): string {
  const family = of?.slice(0, familyLength) ?? randomBytes(familyBytes).toString('base64url');
  return family + randomBytes(secretBytes).toString('base64url');
}

/** The hash a refresh token is stored and found by. SHA-256 is enough for random bits: nobody guesses those. */
export function hashRefreshToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

/**
 * The hash a token's family is found by; null for what is no refresh token by its look. Who names a family has had one
 * of its tokens, so that a token that does not fit is one that was used before, and nobody can end a session by guess.
 */
export function hashFamily(token: string): string | null {
  return tokenForm.test(token) ? hashRefreshToken(token.slice(0, familyLength)) : null;
}

/** Seals a token's successor so that only who has the token can open it: AES-256-GCM, the key by HKDF of the token. */
export function sealSuccessor(successor: string, token: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', sealingKey(token), nonce);
  const sealed = Buffer.concat([cipher.update(successor, 'ascii'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
}

/** Opens what `sealSuccessor` has sealed for this token; throws for another. */
export function openSuccessor(sealed: string, token: string): string {
  const bytes = Buffer.from(sealed, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', sealingKey(token), bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(12, 28));
  return decipher.update(bytes.subarray(28), undefined, 'ascii') + decipher.final('ascii');
}

function sealingKey(token: string): Buffer {
  return Buffer.from(hkdfSync('sha256', token, '', 'kith refresh token successor', 32));
}
