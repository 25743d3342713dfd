import { expect, it } from 'vitest';
import { readEnvironmentFile } from './environment-file.ts';

// The expected values follow systemd's parser (src/basic/env-file.c).
it.each([
  ['A=one', { A: 'one' }],
  ['  A = one two \t\nB=2', { A: 'one two', B: '2' }],
  ['A=one#two\nB=one # two\nC=x;y', { A: 'one#two', B: 'one # two', C: 'x;y' }],
  ['# A=1\n  ; B=2\n#C=3 \\\nD=4', { D: '4' }],
  ['A="one # two"\nB=\'one # $two\'', { A: 'one # two', B: 'one # $two' }],
  ['A="one" # two', { A: 'one# two' }],
  ['A="one" \'two\'three', { A: 'onetwothree' }],
  ['A=one"two"', { A: 'one"two"' }],
  ['A=`one`', { A: '`one`' }],
  [String.raw`A="a\"b\\c\$d\ne"`, { A: String.raw`a"b\c$d\ne` }],
  ["A='a\\nb\\'", { A: 'a\\nb\\' }],
  [String.raw`A=a\nb\ `, { A: 'anb ' }],
  ['A=one\\\ntwo\nB="one\\\ntwo"', { A: 'onetwo', B: 'onetwo' }],
  ['A="one\ntwo=2"\nB=3', { A: 'one\ntwo=2', B: '3' }],
  ['A=\r\nB=2\r\n', { A: '', B: '2' }],
  ['A="one\nB=2', { A: 'one\nB=2' }],
  ['A=one\\', { A: 'one' }],
  ['A=1\nA=2', { A: '2' }],
  ['no assignment\nexport A=1\n1B=2\n=3\nC=4', { C: '4' }],
])('reads %j as systemd does', (text, variables) => {
  expect(readEnvironmentFile(text)).toEqual(variables);
});
