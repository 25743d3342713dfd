import { expect, test } from 'vitest';
import { kindRefusal } from './hash-kinds.ts';

const bcrypt = (cost: number) => `$2b$${String(cost).padStart(2, '0')}`;

test.each([
  [[], bcrypt(13), null],
  [[bcrypt(13)], bcrypt(13), null],
  [[bcrypt(13)], bcrypt(4), 'hashes-too-costly'],
  [[bcrypt(4)], bcrypt(13), 'hashes-too-costly'],
  [[bcrypt(12), '$scrypt$ln=15,r=8,p=1'], '$argon2id$v=19$m=65536,t=3,p=4', null],
  [[bcrypt(12), '$scrypt$ln=16,r=8,p=1'], '$argon2id$v=19$m=65536,t=3,p=4', 'hashes-too-costly'],
  [[4, 5, 6].map(bcrypt), bcrypt(7), null],
  [[4, 5, 6, 7].map(bcrypt), bcrypt(8), 'too-many-hash-kinds'],
  [[4, 5, 6, 7].map(bcrypt), bcrypt(7), null],
])('if a project has the kinds %j, the refusal of %s is: %s', (known, kind, refusal) => {
  expect(kindRefusal(known, kind)).toBe(refusal);
});
