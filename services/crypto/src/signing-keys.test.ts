import { generateKeyPairSync } from 'node:crypto';
import { beforeEach, expect, test, vi } from 'vitest';
import { SigningKeys } from './signing-keys.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

test('a key that comes again is the one read before, another one is not', () => {
  const keys = new SigningKeys();
  const [one, other] = [freshKey(), freshKey()];
  const first = keys.read(one);
  expect(keys.read(one)).toBe(first);
  expect(keys.read(other)).not.toBe(first);
  expect(keys.size).toBe(2);
});

test('a key is dropped when its time is over, however often it was used', () => {
  const keys = new SigningKeys({ lifeMs: 1_000 });
  const text = freshKey();
  const first = keys.read(text);
  vi.advanceTimersByTime(999);
  expect(keys.read(text)).toBe(first);
  vi.advanceTimersByTime(1);
  expect(keys.size).toBe(0);
  expect(keys.read(text)).not.toBe(first);
});

test('of too many keys the oldest is dropped', () => {
  const keys = new SigningKeys({ max: 2 });
  const texts = [freshKey(), freshKey(), freshKey()] as const;
  const [first, second] = [keys.read(texts[0]), keys.read(texts[1])];
  keys.read(texts[2]);
  expect(keys.size).toBe(2);
  expect(keys.read(texts[1])).toBe(second);
  expect(keys.read(texts[0])).not.toBe(first);
});

test('what is no key is refused each time and not kept', () => {
  const keys = new SigningKeys();
  for (let time = 0; time < 2; time++) expect(() => keys.read('bm90IGEga2V5')).toThrow('not a PEM');
  expect(keys.size).toBe(0);
});

test('all are dropped when the service ends', () => {
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
