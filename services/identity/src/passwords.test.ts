import { passwordHashKind } from '@kith/contracts';
import { expect, test } from 'vitest';
import { markImported, nobodysHash, verifyImported } from './imported-hash.ts';
import { derive, Passwords } from './passwords.ts';

const later = Date.now() + 60_000;
const passwords = new Passwords();

/** Makes an instance of `Passwords` that records the kind and the cost of each hash that it computes. */
function recorded() {
  const computed: string[] = [];
  const recording = new Passwords({
    derive: (password, { memory, passes, parallelism, salt, bytes }) => {
      computed.push(`argon2id ${memory} ${passes} ${parallelism} ${salt.length} ${bytes}`);
      return derive(password, { memory, passes, parallelism, salt, bytes });
    },
    verifyImported: (password, hash) => {
      computed.push(passwordHashKind(hash) ?? '');
      return verifyImported(password, hash);
    },
  });
  return { recording, computed };
}
const own = 'argon2id 19456 2 1 16 32';

test('hashes with argon2id and a new salt each time, and returns a PHC string', async () => {
  const [one, two] = await Promise.all([passwords.hash('secret', later), passwords.hash('secret', later)]);
  const phc = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/;
  expect(one).toMatch(phc);
  expect(two).toMatch(phc);
  expect(one).not.toBe(two);
  expect(await passwords.verify('secret', one, later)).toBe(true);
  expect(await passwords.verify('Secret', one, later)).toBe(false);
  expect(await passwords.verify('', one, later)).toBe(false);
});

test('verifies a hash that another program made at another cost', async () => {
  // This hash was made with the program `argon2` of the reference implementation: argon2 somesalt -id -m 16 -t 2 -p 1.
  const phc = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
  expect(await passwords.verify('password', phc, later)).toBe(true);
  expect(await passwords.verify('passwords', phc, later)).toBe(false);
});

test('accepts every Unicode encoding of the same password', async () => {
  const phc = await passwords.hash('Å ﬁ', later);
  expect(await passwords.verify('A\u030a fi', phc, later)).toBe(true);
});

test('computes a hash of the same cost if there is no user, and then accepts no password', async () => {
  const { recording, computed } = recorded();
  const phc = await passwords.hash('secret', later);
  expect(await recording.verify('secret', phc, later)).toBe(true);
  expect(await recording.verify('secret', null, later)).toBe(false);
  expect(computed).toEqual([own, own]);
});

test('reports a stored hash that cannot be read, without quoting the hash', async () => {
  const broken = '$2b$10$abcdefghijklmnopqrstuv';
  const failure = await passwords.verify('secret', broken, later).catch((error: Error) => error.message);
  expect(failure).toBe('A stored password hash cannot be read.');
});

test('a refusal computes hashes of the same kinds for an imported hash, for our own hash and for an unknown user', async () => {
  const { recording, computed } = recorded();
  const kinds = ['$2b$10', '$scrypt$ln=14,r=8,p=1'];
  const stored = {
    bcrypt: markImported(nobodysHash(kinds[0] ?? '')),
    scrypt: markImported(nobodysHash(kinds[1] ?? '')),
    own: await passwords.hash('secret', later),
    nobody: null,
  };
  for (const [name, hash] of Object.entries(stored)) {
    computed.length = 0;
    expect(await recording.verify('wrong', name === 'own' ? hash : null, later)).toBe(false);
    expect(await recording.verifyOthers('wrong', hash, { kinds, deadline: later })).toBe(false);
    expect(computed.toSorted(), name).toEqual([...kinds, own]);
  }
});

test('a user with our own hash does not wait for imported hashes, no matter how many are being verified', async () => {
  const release = Promise.withResolvers<boolean>();
  const blocked = new Passwords({ derive, verifyImported: () => release.promise });
  const phc = await blocked.hash('secret', later);
  const imported = markImported(nobodysHash('$scrypt$ln=14,r=8,p=1'));
  const many = Array.from({ length: 12 }, () => blocked.verify('secret', imported, later));
  expect(await blocked.verify('secret', phc, later)).toBe(true);
  await blocked.hash('secret', later);
  release.resolve(true);
  expect(await Promise.all(many)).toEqual(many.map(() => true));
});
