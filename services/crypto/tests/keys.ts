import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';

/** The base64 of a PEM, which is the form that the API takes. */
export function base64Of(pem: string | Buffer): string {
  return Buffer.from(pem).toString('base64');
}

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const encryption = { cipher: 'aes-256-cbc', passphrase: 'x' };
const pkcs8 = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' });

export const publicKey = rsa.publicKey;

/** PEM texts of keys that can sign. */
export const goodPems = {
  pkcs8: pkcs8(rsa.privateKey),
  pkcs1: rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }),
};

/** PEM texts of keys that are refused. */
export const badPems = {
  ecPkcs8: pkcs8(ec.privateKey),
  ecSec1: ec.privateKey.export({ type: 'sec1', format: 'pem' }),
  ed25519: pkcs8(generateKeyPairSync('ed25519').privateKey),
  rsa1024: pkcs8(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey),
  rsaPss: pkcs8(generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).privateKey),
  public: rsa.publicKey.export({ type: 'spki', format: 'pem' }),
  encryptedPkcs8: rsa.privateKey.export({ type: 'pkcs8', format: 'pem', ...encryption }),
  encryptedPkcs1: rsa.privateKey.export({ type: 'pkcs1', format: 'pem', ...encryption }),
  rsa4104: pkcs8(generateKeyPairSync('rsa', { modulusLength: 4104 }).privateKey),
  largeExponent: pkcs8(withExponent(rsa.privateKey, 2n ** 89n - 1n)),
  cut: `${goodPems.pkcs8.slice(0, 500)}\n-----END PRIVATE KEY-----\n`,
};

/** An RSA key with the same primes and another public exponent. The exponent has to be a prime. */
function withExponent(key: KeyObject, exponent: bigint): KeyObject {
  const jwk = key.export({ format: 'jwk' });
  const read = (text = '') => BigInt(`0x${Buffer.from(text, 'base64url').toString('hex')}`);
  const write = (value: bigint) => {
    const digits = value.toString(16);
    return Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex').toString(
      'base64url',
    );
  };
  const [p, q] = [read(jwk.p), read(jwk.q)];
  const d = inverse(exponent, (p - 1n) * (q - 1n));
  const parts = { e: write(exponent), d: write(d), dp: write(d % (p - 1n)), dq: write(d % (q - 1n)) };
  return createPrivateKey({ key: { ...jwk, ...parts }, format: 'jwk' });
}

/** The modular inverse, by Euclid's algorithm: the number that gives 1 when it is multiplied by `of`, modulo `modulo`. */
function inverse(of: bigint, modulo: bigint): bigint {
  let [a, b, x, y] = [of % modulo, modulo, 1n, 0n];
  while (a > 1n) {
    const quotient = a / b;
    [a, b] = [b, a % b];
    [x, y] = [y, x - quotient * y];
  }
  return ((x % modulo) + modulo) % modulo;
}
