import { readdirSync, readFileSync } from 'node:fs';
import { operations } from '@kith/contracts';
import { expect, test } from 'vitest';
import { classes, features, fileOf, type Part, type PartName, parts } from '../support/surface/parts.ts';

test.each(operations.map((spec) => [spec.name, spec] as const))('%s is in exactly one suite', (_, spec) => {
  const suites = Object.entries<Part>(features).filter(([, part]) => part.operations.includes(spec));
  expect(suites.map(([name]) => name)).toHaveLength(1);
});

test('no suite lists an operation that the API does not have', () => {
  const listed = Object.values<Part>(parts).flatMap((part) => part.operations);
  expect(listed.filter((spec) => !operations.includes(spec))).toEqual([]);
});

const folder = new URL('.', import.meta.url);
const texts = readdirSync(folder).map((name) => ({
  name,
  text: readFileSync(new URL(name, folder), 'utf8'),
}));

test.each(Object.keys(parts) as PartName[])('the suite %s exists, and a test file runs it', (name) => {
  const suites = texts.filter(({ text }) => text.includes(`surfaceSuite('${name}'`));
  expect(suites.map((suite) => suite.name)).toEqual([fileOf(name)]);
  const runs = texts.filter(
    (one) =>
      one.name.endsWith('.test.ts') && (one.name === fileOf(name) || one.text.includes(`'./${name}.ts'`)),
  );
  expect(runs).toHaveLength(1);
});

test.each(Object.entries(classes))('%s is the auth class of its operation', (auth, spec) => {
  expect(spec.auth).toBe(auth);
  expect(new Set(operations.map((one) => one.auth))).toContain(auth);
});
