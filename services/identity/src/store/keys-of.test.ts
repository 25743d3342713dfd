import { expect, test } from 'vitest';
import { nameKey, namesFrom } from './keys-of.ts';

const names = [
  'a',
  'ab',
  'ab c',
  'abc',
  'a~',
  'a\0',
  'aé',
  'aéb',
  'ae',
  '田中',
  '田中太郎',
  '🦊',
  '🦊 fox',
  'x'.repeat(500),
];

test('a key of a name is printable ASCII with at most 300 characters, and different names have different keys', () => {
  const keys = [...names, '田'.repeat(512), '田'.repeat(511)].map((name) => nameKey('p', name));
  for (const key of keys) expect(key).toMatch(/^p\|[\x20-\x7e]{1,300}$/);
  expect(new Set(keys).size).toBe(keys.length);
});

test('the range for a text contains the names that begin with the text, and no other names', () => {
  for (const start of ['a', 'ab', 'ab ', 'aé', 'é', '田', '🦊', '~', '\0', 'x', 'x'.repeat(200)]) {
    const { above, below } = namesFrom('p', start);
    const found = names.filter((name) => above < nameKey('p', name) && nameKey('p', name) < below);
    expect(found, start).toEqual(names.filter((name) => name.startsWith(start)));
  }
  const { above, below } = namesFrom('p', '');
  expect(nameKey('q', 'a') > above && nameKey('q', 'a') < below).toBe(false);
});

test('the keys of ASCII names have the order of the names, and a shorter name comes first', () => {
  const sorted = ['ab', 'ab c', 'ab1', 'ab_', 'abc', 'b'];
  expect(sorted.map((name) => nameKey('p', name)).toSorted()).toEqual(
    sorted.map((name) => nameKey('p', name)),
  );
});
