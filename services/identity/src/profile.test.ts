import { expect, test } from 'vitest';
import { changesProfile, withProfile } from './profile.ts';

const full = {
  username: 'ada',
  name: 'Ada',
  avatar: 'https://example.org/a.png',
  bio: 'Bio',
  location: 'London',
  birthdate: '1815-12-10',
  metadata: { a: 1, b: [2] },
};

test('withProfile starts with an empty profile', () => {
  const nothing = { username: null, name: null, avatar: null, bio: null, location: null, birthdate: null };
  expect(withProfile({})).toEqual({ ...nothing, metadata: {} });
  expect(withProfile(full)).toEqual(full);
});

test('withProfile keeps absent fields, empties null fields, and ignores fields that a profile does not have', () => {
  expect(withProfile({}, full)).toEqual(full);
  expect(withProfile({ name: null, metadata: null }, full)).toEqual({ ...full, name: null, metadata: {} });
  const forced = { ...full, role: 'admin', reputation: 9 };
  expect(withProfile(forced)).toEqual(full);
});

test('changesProfile reports a change of any field, even a nested one, but not a changed order of keys', () => {
  expect(changesProfile({ ...full, metadata: { b: [2], a: 1 } }, full)).toBe(false);
  expect(changesProfile({ ...full, metadata: { a: 1, b: [3] } }, full)).toBe(true);
  expect(changesProfile({ ...full, username: 'ADA' }, full)).toBe(true);
});
