import { expect, test } from 'vitest';
import { nearest } from './near.ts';

const known = ['start', 'stop', 'status', 'projects', 'dead-letters', 'completion', 'move'];

test.each([
  ['strat', 'start'],
  ['staus', 'status'],
  ['stpo', 'stop'],
  ['project', 'projects'],
  ['prjocets', 'projects'],
  ['deadletters', 'dead-letters'],
  ['Dead_Letters', 'dead-letters'],
  ['completions', 'completion'],
  ['start', 'start'],
])('%s is probably %s', (word, meant) => {
  expect(nearest(word, known)).toBe(meant);
});

test.each(['', 'x', 'destroy', 'mv', 'projectsprojects', 'p'.repeat(100_000)])(
  'no known word is close to %s',
  (word) => {
    expect(nearest(word, known)).toBeUndefined();
  },
);

test('if two known words are close to the typed word, the closer one is suggested', () => {
  expect(nearest('projects', ['project', 'projects', 'projector'])).toBe('projects');
});
