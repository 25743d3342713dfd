import { existsSync, globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { handlerSuites } from '../tools/test/handler-suites.ts';

const filesOf = (ending: string) =>
  globSync(`{libs/*,services/*,apps/*,tools,bench,tests}/**/*${ending}`, {
    exclude: (path) => path.includes('node_modules'),
  });
const longFiles = filesOf('.long.test.ts');

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

/**
 * Whether a suite never runs on real engines outside of `npm run test:long`. This is true for every suite that uses
 * `handlerEngines`. It is also true for every suite of `tests/surface` that does not name its engines.
 */
function leavesOutEngines(path: string): boolean {
  const text = readFileSync(path, 'utf8');
  return /\bhandlerEngines\(/.test(text) || (/\bdescribeSurface\(/.test(text) && !/\bengines:/.test(text));
}

test('`npm run test:long` contains every suite that no other command runs on real engines', () => {
  const inLong = new Set([...longFiles, ...globSync([...handlerSuites])]);
  const leaving = filesOf('.test.ts').filter(
    (path) => path !== 'tests/suites.test.ts' && leavesOutEngines(path),
  );
  expect(leaving.filter((path) => !inLong.has(path))).toEqual([]);
  expect(leaving).toContain('tests/surface/operators.test.ts');
});
