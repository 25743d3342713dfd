import { expect, test } from 'vitest';
import { projectPath, segmentOf } from './paths.ts';

test('an id is one segment of a path', () => {
  expect(projectPath('a/../b?c#d')).toBe('/admin/projects/a%2F..%2Fb%3Fc%23d');
  expect(segmentOf('...')).toBe('...');
});

test.each([undefined, '', '.', '..'])('the id %j is refused, because it would make another path', (id) => {
  expect(() => projectPath(id)).toThrow('is not an id.');
});
