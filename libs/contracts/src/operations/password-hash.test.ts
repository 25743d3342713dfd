import { expect, test } from 'vitest';
import { passwordHash, passwordHashCost, passwordHashKind } from './password-hash.ts';

const bcrypt = `$2y$12$${'a'.repeat(53)}`;
const scrypt = `$scrypt$ln=15,r=8,p=1$${'a'.repeat(22)}$${'b'.repeat(43)}`;
const argon2 = `$argon2id$v=19$m=65536,t=3,p=4$${'a'.repeat(22)}$${'b'.repeat(43)}`;

test('passwordHashKind accepts three forms of hashes, and returns the kind of each', () => {
  expect([bcrypt, scrypt, argon2].map(passwordHashKind)).toEqual([
    '$2b$12',
    '$scrypt$ln=15,r=8,p=1',
    '$argon2id$v=19$m=65536,t=3,p=4',
  ]);
  for (const hash of [bcrypt, scrypt, argon2]) expect(passwordHash.parse(hash)).toBe(hash);
});

test.each([
  ['another form', '5f4dcc3b5aa765d61d8327deb882cf99'],
  ['argon2i', argon2.replace('argon2id', 'argon2i')],
  ['a hash that was cut short', bcrypt.slice(0, -1)],
  ['a bcrypt that takes seconds', bcrypt.replace('$12$', '$14$')],
  ['a scrypt that takes seconds', scrypt.replace('ln=15,r=8,p=1', 'ln=20,r=2,p=16')],
  ['a scrypt with parameters that RFC 7914 forbids', scrypt.replace('ln=15,r=8', 'ln=16,r=1')],
  ['an argon2id that takes seconds', argon2.replace('m=65536,t=3', 'm=262144,t=16')],
  ['a scrypt that takes all memory', scrypt.replace('ln=15', 'ln=20')],
  ['an argon2id that takes all memory', argon2.replace('m=65536', 'm=4194304')],
  ['an argon2id with no memory for its lanes', argon2.replace('m=65536', 'm=16')],
])('refuses %s, without quoting it', (_, hash) => {
  const { success, error } = passwordHash.safeParse(hash);
  expect(success).toBe(false);
  expect(JSON.stringify(error?.issues)).not.toContain(hash.slice(-20));
});

test.each([
  [bcrypt, 0.5],
  [bcrypt.replace('$12$', '$13$'), 1],
  [scrypt, 0.125],
  [scrypt.replace('ln=15,r=8,p=1', 'ln=16,r=16,p=2'), 1],
  [argon2, 0.375],
  [argon2.replace('m=65536,t=3', 'm=262144,t=2'), 1],
])('passwordHashCost returns a share of the highest accepted cost: %s', (hash, cost) => {
  expect(passwordHashCost(passwordHashKind(hash) ?? '')).toBe(cost);
  expect(passwordHash.safeParse(hash).success).toBe(true);
});
