import { passwordHashKind } from '@kith/contracts';
import { expect, test } from 'vitest';
import { importedHash, importedKind, markImported, nobodysHash, verifyImported } from './imported-hash.ts';

// Other programs made these hashes: the bcrypt of libxcrypt, the scrypt of passlib, and the command line of argon2.
const examples = [
  ['bcrypt 2a', 'U*U', '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'],
  ['bcrypt 2y', 'rasmuslerdorf', '$2y$07$BCryptRequires22Chrcte/VlQH0piJtjXl.0t1XkA8pw9dMXTpOq'],
  ['bcrypt 2b', 'pässword longer', '$2b$06$abcdefghijklmnopqrstuuwCNYOcTdIAu2dQXTb2mnuVWjYXkpHvO'],
  [
    'scrypt',
    'password',
    '$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E',
  ],
  [
    'argon2id',
    'password',
    '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc',
  ],
] as const;

test.each(examples)(
  'verifyImported verifies passwords with a hash of the kind %s',
  async (_, password, hash) => {
    expect(await verifyImported(password, hash)).toBe(true);
    expect(await verifyImported(`${password}!`, hash)).toBe(false);
    expect(await verifyImported('', hash)).toBe(false);
  },
);

test.each(examples)(
  'nobodysHash makes a hash that no password matches, of the same kind as %s',
  async (_, password, hash) => {
    const kind = passwordHashKind(hash) ?? '';
    const nobodys = nobodysHash(kind);
    expect(passwordHashKind(nobodys)).toBe(kind);
    expect(nobodys).not.toBe(nobodysHash(kind));
    expect(await verifyImported(password, nobodys)).toBe(false);
  },
);

test('the event loop is not blocked while a bcrypt hash is computed', async () => {
  let turns = 0;
  const turning = setInterval(() => turns++, 1);
  await verifyImported('secret', nobodysHash('$2b$10'));
  clearInterval(turning);
  // If the hash were computed on the event loop, the timer could not run until the hash is finished.
  expect(turns).toBeGreaterThan(1);
});

test('importedHash and importedKind recognise a stored hash that was imported', () => {
  const hash = examples[0][2];
  expect(importedHash(markImported(hash))).toBe(hash);
  expect(importedKind(markImported(hash))).toBe('$2b$05');
  for (const own of [null, examples[3][2]]) {
    expect(importedHash(own)).toBe(null);
    expect(importedKind(own)).toBe(null);
  }
});
