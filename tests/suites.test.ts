import { existsSync, globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const longFiles = globSync('{libs/*,services/*,apps/*,tools,bench,tests}/**/*.long.test.ts', {
  exclude: (path) => path.includes('node_modules'),
});

test('there are suites that take long', () => {
  expect(longFiles).not.toEqual([]);
});

test.each(longFiles)('%s names its quick counterpart', (path) => {
  const [first = ''] = readFileSync(path, 'utf8').split('\n');
  const [, quick = ''] = /^\/\/ Quick counterpart: (\S+\.test\.ts)$/.exec(first) ?? [];
  expect(quick).not.toBe('');
  expect(quick).not.toContain('.long.');
  expect(existsSync(quick), quick).toBe(true);
});
