import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { ApiError } from '@kith/base';

const pemForm = /^-----BEGIN ((?:RSA )?PUBLIC KEY)-----[A-Za-z0-9+/=\s]+-----END \1-----$/;
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/**
 * Reads a public key for external sign-in, and returns it as SPKI in PEM. The input is PEM or a JWK (an object or its text).
 * Accepts RSA from 2,048 bits, EC on P-256 and Ed25519. Throws `project/invalid-body` with `field: "publicKey"`. The error's
 * message says what is wrong with the key, but quotes nothing of the input, because the input may be a private key.
 */
export function readPublicKey(given: string | Record<string, unknown>): string {
  const value = typeof given === 'string' ? textOrJwk(given.trim()) : given;
  const isPrivate =
    typeof value === 'string'
      ? value.includes('PRIVATE KEY')
      : privateMembers.some((member) => member in value);
  if (isPrivate) throw refused('is a private key. Keep it to yourself, and register the public key.');
  const key = parse(value);
  if (!key) throw refused('must be a public key as PEM or JWK.');
  if (!isStrong(key)) throw refused('must be RSA from 2,048 bits, EC P-256 or Ed25519.');
  return key.export({ type: 'spki', format: 'pem' }) as string;
}

function textOrJwk(text: string): string | Record<string, unknown> {
  if (!text.startsWith('{')) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function parse(value: string | Record<string, unknown>): KeyObject | null {
  try {
    // `pemForm` refuses a certificate or a private key. `createPublicKey` would accept either, and derive the public key from
    // it.
    if (typeof value === 'string') return pemForm.test(value) ? createPublicKey(value) : null;
    return createPublicKey({ key: value as JsonWebKey, format: 'jwk' });
  } catch {
    return null;
  }
}

function isStrong(key: KeyObject): boolean {
  const { modulusLength = 0, publicExponent = 0n, namedCurve } = key.asymmetricKeyDetails ?? {};
  switch (key.asymmetricKeyType) {
    case 'rsa':
      // If the exponent of an RSA key is 1, a signature equals the padded hash of the content, so anybody could make one.
      return modulusLength >= 2048 && modulusLength <= 16_384 && publicExponent >= 3n;
    case 'ec':
      return namedCurve === 'prime256v1';
    default:
      return key.asymmetricKeyType === 'ed25519';
  }
}

function refused(reason: string): ApiError {
  return new ApiError('project/invalid-body', { message: `publicKey ${reason}`, field: 'publicKey' });
}
