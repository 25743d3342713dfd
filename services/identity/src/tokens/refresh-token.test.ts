import { expect, test } from 'vitest';
import {
  hashFamily,
  hashRefreshToken,
  makeRefreshToken,
  openSuccessor,
  sealSuccessor,
} from './refresh-token.ts';

test('makes a different token of 408 bits each time', () => {
  const tokens = Array.from({ length: 100 }, () => makeRefreshToken());
  expect(new Set(tokens).size).toBe(100);
  expect(new Set(tokens.map(hashFamily)).size).toBe(100);
  for (const token of tokens) expect(Buffer.from(token, 'base64url')).toHaveLength(51);
});

test('makes a new token in the family of a given token', () => {
  const first = makeRefreshToken();
  const second = makeRefreshToken(first);
  expect(second).not.toBe(first);
  expect(hashFamily(second)).toBe(hashFamily(first));
  expect(hashRefreshToken(second)).not.toBe(hashRefreshToken(first));
});

test('hashes with SHA-256', () => {
  expect(hashRefreshToken('abc')).toBe('ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0');
});

test.each(['', 'abc', `${makeRefreshToken()}A`, `${makeRefreshToken().slice(0, -1)}=`, 'é'.repeat(68)])(
  'does not accept %j as a token',
  (text) => expect(hashFamily(text)).toBeNull(),
);

test('seals a successor differently each time, and only the right token opens it', () => {
  const token = makeRefreshToken();
  const successor = makeRefreshToken(token);
  const sealed = sealSuccessor(successor, token);
  expect(openSuccessor(sealed, token)).toBe(successor);
  expect(sealSuccessor(successor, token)).not.toBe(sealed);
  expect(sealed).not.toContain(successor);
  expect(() => openSuccessor(sealed, makeRefreshToken(token))).toThrow();
  expect(() => openSuccessor(sealed, successor)).toThrow();
  const broken = Buffer.from(sealed, 'base64url');
  broken[40] = (broken[40] ?? 0) ^ 1;
  expect(() => openSuccessor(broken.toString('base64url'), token)).toThrow();
});
