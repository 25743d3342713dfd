import { expect, test } from 'vitest';
import { markImported, nobodysHash } from './imported-hash.ts';
import { Passwords } from './passwords.ts';

const later = Date.now() + 60_000;
const passwords = new Passwords();

test('hashes with argon2id as a PHC string with a salt of its own', async () => {
  const [one, two] = await Promise.all([passwords.hash('secret', later), passwords.hash('secret', later)]);
  const phc = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/;
  expect(one).toMatch(phc);
  expect(two).toMatch(phc);
  expect(one).not.toBe(two);
  expect(await passwords.verify('secret', one, later)).toBe(true);
  expect(await passwords.verify('Secret', one, later)).toBe(false);
  expect(await passwords.verify('', one, later)).toBe(false);
});

test('verifies what was hashed elsewhere, at another cost', async () => {
  // From the command line of the reference implementation: argon2 somesalt -id -m 16 -t 2 -p 1.
  const phc = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
  expect(await passwords.verify('password', phc, later)).toBe(true);
  expect(await passwords.verify('passwords', phc, later)).toBe(false);
});

test('takes every spelling of one text for the same password', async () => {
  const phc = await passwords.hash('Å ﬁ', later);
  expect(await passwords.verify('A\u030a fi', phc, later)).toBe(true);
});

test('gives nobody the same work as somebody, and no password', async () => {
  const phc = await passwords.hash('secret', later);
  expect(await passwords.verify('secret', null, later)).toBe(false);
  const times = { somebody: [] as number[], nobody: [] as number[] };
  // In turn, so that a busy machine slows both alike.
  for (let count = 0; count < 15; count++) {
    for (const [who, stored] of [
      ['somebody', phc],
      ['nobody', null],
    ] as const) {
      const start = performance.now();
      await passwords.verify('secret', stored, later);
      times[who].push(performance.now() - start);
    }
  }
  const median = (of: number[]) => of.toSorted((a, b) => a - b)[7] ?? 0;
  const [somebody, nobody] = [median(times.somebody), median(times.nobody)];
  expect(nobody).toBeGreaterThan(somebody / 3);
  expect(nobody).toBeLessThan(somebody * 3);
});

test('says that a stored hash can not be read without quoting it', async () => {
  const broken = '$2b$10$abcdefghijklmnopqrstuv';
  const failure = await passwords.verify('secret', broken, later).catch((error: Error) => error.message);
  expect(failure).toBe('A stored password hash can not be read.');
});

test('a refusal takes the same with an imported hash, with one of our own, and for nobody', async () => {
  const kinds = ['$2b$10', '$scrypt$ln=14,r=8,p=1'];
  const stored = {
    bcrypt: markImported(nobodysHash(kinds[0] ?? '')),
    scrypt: markImported(nobodysHash(kinds[1] ?? '')),
    own: await passwords.hash('secret', later),
    nobody: null,
  };
  const names = Object.keys(stored) as (keyof typeof stored)[];
  const times = new Map(names.map((name) => [name, [] as number[]]));
  for (let count = 0; count < 9; count++) {
    for (const name of names) {
      const start = performance.now();
      expect(await passwords.verify('wrong', stored[name], later)).toBe(false);
      await passwords.spendOthers('wrong', stored[name], { kinds, deadline: later });
      times.get(name)?.push(performance.now() - start);
    }
  }
  const medians = names.map((name) => times.get(name)?.toSorted((a, b) => a - b)[4] ?? 0);
  expect(Math.max(...medians)).toBeLessThan(2 * Math.min(...medians));
});

test('nobody with a hash of our own waits behind imported ones, however many there are', async () => {
  const own = await passwords.hash('secret', later);
  const imported = markImported(nobodysHash('$scrypt$ln=14,r=8,p=1'));
  let done = 0;
  const many = Array.from({ length: 12 }, async () => {
    await passwords.verify('secret', imported, later);
    done++;
  });
  expect(await passwords.verify('secret', own, later)).toBe(true);
  await passwords.hash('secret', later);
  expect(done).toBeLessThan(many.length / 2);
  await Promise.all(many);
});
