import { generateKeyPairSync } from 'node:crypto';
import { beforeEach, expect, test, vi } from 'vitest';
import { SigningKeys } from './signing-keys.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

test('read() returns the same object for the same key, and another object for another key', () => {
  const keys = new SigningKeys();
  const [one, other] = [freshKey(), freshKey()];
  const first = keys.read(one);
  expect(keys.read(one)).toBe(first);
  expect(keys.read(other)).not.toBe(first);
  expect(keys.size).toBe(2);
});

test('a key is dropped at the end of its lifetime, even if it was used meanwhile', () => {
  const keys = new SigningKeys({ lifeMs: 1_000 });
  const text = freshKey();
  const first = keys.read(text);
  vi.advanceTimersByTime(999);
  expect(keys.read(text)).toBe(first);
  vi.advanceTimersByTime(1);
  expect(keys.size).toBe(0);
  expect(keys.read(text)).not.toBe(first);
});

test('the oldest key is dropped when there are too many keys', () => {
  const keys = new SigningKeys({ max: 2 });
  const texts = [freshKey(), freshKey(), freshKey()] as const;
  const [first, second] = [keys.read(texts[0]), keys.read(texts[1])];
  keys.read(texts[2]);
  expect(keys.size).toBe(2);
  expect(keys.read(texts[1])).toBe(second);
  expect(keys.read(texts[0])).not.toBe(first);
});

test('a text that is not a key is refused each time and not kept', () => {
  const keys = new SigningKeys();
  for (let time = 0; time < 2; time++) expect(() => keys.read('bm90IGEga2V5')).toThrow('not a PEM');
  expect(keys.size).toBe(0);
});

test('clear() drops all keys and stops their timers', () => {
  const keys = new SigningKeys();
  keys.read(freshKey());
  keys.clear();
  expect(keys.size).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});

function freshKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' })).toString('base64');
}
