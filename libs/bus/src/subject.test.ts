import { expect, test } from 'vitest';
import { subjectMatches } from './subject.ts';

test.each([
  ['a.b', 'a.b', true],
  ['a.b', 'a.c', false],
  ['a.b', 'a', false],
  ['a.b', 'a.b.c', false],
  ['a.*', 'a.b', true],
  ['a.*', 'a', false],
  ['a.*', 'a.b.c', false],
  ['*.b', 'a.b', true],
  ['a.*.c', 'a.b.c', true],
  ['a.>', 'a.b', true],
  ['a.>', 'a.b.c.d', true],
  ['a.>', 'a', false],
  ['>', 'a', true],
  ['a.*.>', 'a.b', false],
  ['a.*.>', 'a.b.c', true],
])('the pattern %s matches the subject %s: %s', (pattern, subject, matches) => {
  expect(subjectMatches(pattern, subject)).toBe(matches);
});
