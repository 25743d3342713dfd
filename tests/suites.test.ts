import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { suitesEndingWith, suitesOfBothRuns } from '../tools/test/suites-of-both-runs.ts';

const longFiles = suitesEndingWith('.long.test.ts');

test('there are long suites', () => {
  expect(longFiles).not.toEqual([]);
});

test.each(longFiles)('%s names its quick counterpart', (path) => {
  const [first = ''] = readFileSync(path, 'utf8').split('\n');
  const [, quick = ''] = /^\/\/ Quick counterpart: (\S+\.test\.ts)$/.exec(first) ?? [];
  expect(quick).not.toBe('');
  expect(quick).not.toContain('.long.');
  expect(existsSync(quick), quick).toBe(true);
});

test.each([
  ['services/identity/tests/operations/sign-up.test.ts', true],
  ['services/identity/tests/mails.test.ts', true],
  ['tests/surface/operators.test.ts', true],
  ['tests/surface/layers.test.ts', false],
  ['libs/store/tests/documents.test.ts', false],
])('whether `npm run test:long` runs %s on real engines: %s', (path, expected) => {
  expect(suitesOfBothRuns().includes(path)).toBe(expected);
});
