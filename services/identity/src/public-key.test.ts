import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { ApiError } from '@kith/base';
import { describe, expect, test } from 'vitest';
import { readPublicKey } from './public-key.ts';

const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength });
const strong = {
  RSA: rsa(2048),
  'EC P-256': generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  Ed25519: generateKeyPairSync('ed25519'),
};
const spki = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }) as string;
const jwk = (key: KeyObject) => key.export({ format: 'jwk' }) as Record<string, unknown>;

describe.each(Object.entries(strong))('a public key of the type %s', (_, { publicKey, privateKey }) => {
  test('is read as PEM, as JWK and as the text of a JWK, and returned as SPKI', () => {
    const pem = spki(publicKey);
    expect(readPublicKey(pem)).toBe(pem);
    expect(readPublicKey(` ${pem.replaceAll('\n', '\r\n')} `)).toBe(pem);
    expect(readPublicKey(jwk(publicKey))).toBe(pem);
    expect(readPublicKey({ ...jwk(publicKey), kid: 'a', use: 'sig' })).toBe(pem);
    expect(readPublicKey(JSON.stringify(jwk(publicKey)))).toBe(pem);
  });

  test('is refused if the private key is given instead, with a message that contains no part of the key', () => {
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    for (const given of [pem, jwk(privateKey), JSON.stringify(jwk(privateKey)), spki(publicKey) + pem]) {
      const error = refusal(given);
      expect(error.message).toBe(
        'publicKey is a private key. Keep it to yourself, and register the public key.',
      );
      expect(error.cause).toBeUndefined();
    }
  });
});

test('RSA is read in the older form of PKCS#1, too', () => {
  const { publicKey } = strong.RSA;
  expect(readPublicKey(publicKey.export({ type: 'pkcs1', format: 'pem' }) as string)).toBe(spki(publicKey));
});

test.each([
  ['RSA of 1,024 bits', spki(rsa(1024).publicKey)],
  ['an exponent of 1', { ...jwk(strong.RSA.publicKey), e: 'AQ' }],
  ['RSA-PSS', spki(generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).publicKey)],
  ['EC P-384', spki(generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey)],
  ['secp256k1', spki(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey)],
  ['X25519', spki(generateKeyPairSync('x25519').publicKey)],
  ['Ed448', jwk(generateKeyPairSync('ed448').publicKey)],
])('%s is refused', (_, given) => {
  expect(refusal(given).field).toBe('publicKey');
});

test.each([
  ['nothing', ''],
  ['words', 'no key'],
  ['an empty object', {}],
  ['half a JWK', { kty: 'RSA', n: 'AQAB' }],
  ['a symmetric key', { kty: 'oct', k: 'c2VjcmV0' }],
  ['broken JSON', '{"kty":'],
  ['an empty PEM', '-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----'],
  ['a PEM of nothing', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----'],
  ['two keys', spki(strong.RSA.publicKey) + spki(strong.Ed25519.publicKey)],
])('%s is refused', (_, given) => {
  expect(refusal(given).code).toBe('project/invalid-body');
});

function refusal(given: string | Record<string, unknown>): ApiError {
  try {
    readPublicKey(given);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('The key was accepted.');
}
