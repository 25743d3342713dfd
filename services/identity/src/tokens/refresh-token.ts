import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

const familyBytes = 18;
const secretBytes = 33;
/**
 * How many characters at the beginning of a refresh token are the same in all refresh tokens of a session ("the family"). The
 * length of each of the token's two parts is a multiple of three bytes. So base64url has only one spelling for a token, and the
 * text can be cut between the two parts.
 */
const familyLength = (familyBytes / 3) * 4;
const tokenForm = /^[\w-]{68}$/;

/**
 * Makes a refresh token, as base64url. It has 144 random bits that are the same in all refresh tokens of a session, and 264
 * random bits of its own. The token is shown once, and only its hash is stored (spec#accounts-refresh-token).
 * @param of An earlier token of the session. If `of` is left out, the new token is the first one of a new session.
 */
export function makeRefreshToken(of?: string): string {
  const family = of?.slice(0, familyLength) ?? randomBytes(familyBytes).toString('base64url');
  return family + randomBytes(secretBytes).toString('base64url');
}

/** The hash under which a refresh token is stored and found. SHA-256 is enough, because nobody can guess random bits. */
export function hashRefreshToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

/**
 * The hash under which a token's family is found; null for text that does not look like a refresh token. Nobody can guess a
 * family, so nobody can end a session with a guessed token. A client that sends a text with an existing family must have had a
 * token of this family. If the text is not the family's valid token, it counts as a token that was already used, and the
 * session ends.
 */
export function hashFamily(token: string): string | null {
  return tokenForm.test(token) ? hashRefreshToken(token.slice(0, familyLength)) : null;
}

/**
 * Seals a token's successor so that only a client with the token can open it. The cipher is AES-256-GCM, with a key that HKDF
 * derives from the token.
 */
export function sealSuccessor(successor: string, token: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', sealingKey(token), nonce);
  const sealed = Buffer.concat([cipher.update(successor, 'ascii'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
}

/** Opens what `sealSuccessor` has sealed for this token; throws for any other token. */
export function openSuccessor(sealed: string, token: string): string {
  const bytes = Buffer.from(sealed, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', sealingKey(token), bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(12, 28));
  return decipher.update(bytes.subarray(28), undefined, 'ascii') + decipher.final('ascii');
}

function sealingKey(token: string): Buffer {
  return Buffer.from(hkdfSync('sha256', token, '', 'kith refresh token successor', 32));
}
