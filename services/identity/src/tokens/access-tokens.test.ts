import { createLocalJWKSet, exportJWK, generateKeyPair, jwtVerify } from 'jose';
import { expect, test } from 'vitest';
import type { SigningKey } from '../store/index.ts';
import { AccessTokens } from './access-tokens.ts';

const claims = { issuer: 'i', audience: 'a' };
const subject = { userId: 'u', projectId: 'p', role: 'visitor', sessionId: 's' };

async function key(ordinal: number): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const privateJwk = await exportJWK(privateKey);
  const { n = '', e = '' } = privateJwk;
  // The private key is not sealed here: the test's own `unseal` only parses this text.
  const sealed = JSON.stringify(privateJwk);
  const times = { signsFrom: new Date(), createdAt: new Date() };
  return { ordinal, kid: `key-${ordinal}`, publicJwk: { n, e }, sealed, ...times };
}

test('signs with the current signing key and publishes all keys', async () => {
  const keys = await Promise.all([key(3), key(2), key(1)]);
  let signing = keys[1] as SigningKey;
  const tokens = new AccessTokens(
    {
      current: () => keys,
      settled: async () => undefined,
      signing: () => signing,
      unseal: ({ sealed }) => JSON.parse(sealed),
    },
    claims,
  );
  const jwks = createLocalJWKSet({ keys: tokens.publicKeys });
  const kid = async () => (await jwtVerify(await tokens.issue(subject), jwks, claims)).protectedHeader.kid;
  expect(await kid()).toBe('key-2');
  signing = keys[0] as SigningKey;
  expect(await kid()).toBe('key-3');
  expect(tokens.publicKeys.map(({ kid }) => kid)).toEqual(['key-3', 'key-2', 'key-1']);
  for (const published of tokens.publicKeys) {
    expect(Object.keys(published).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
  }
});
