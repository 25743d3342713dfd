import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../src');
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
);

function importsOf(file: string): string[] {
  const source = readFileSync(join(root, file), 'utf8');
  const statements =
    /(?:import|export)\b[^'";]*?from\s*['"]([^'"]+)['"]|(?<![.\w])import\s*\(?\s*['"]([^'"]+)['"]/g;
  return [...source.matchAll(statements)].map((match) => match[1] ?? match[2] ?? '');
}

test('the package imports only zod and itself, so that it also runs in a browser', () => {
  expect(files.length).toBeGreaterThan(10);
  expect(importsOf('index.ts')).toContain('./errors.ts');
  for (const file of files) {
    for (const name of importsOf(file)) {
      if (!name.startsWith('.')) expect(`${file}: ${name}`).toBe(`${file}: zod`);
      else expect(files).toContain(normalize(join(dirname(file), name)));
    }
    expect(readFileSync(join(root, file), 'utf8')).not.toMatch(/\b(process|Buffer|require|__dirname)\b[.(]/);
  }
});

test('the package depends only on zod', () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, '../package.json'), 'utf8'));
  expect(Object.keys(dependencies)).toEqual(['zod']);
});
