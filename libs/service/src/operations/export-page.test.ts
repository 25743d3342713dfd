import { exportPageBytes } from '@kith/contracts';
import { expect, test } from 'vitest';
import { exportPage } from './export-page.ts';

const page = (rows: string[], limit: number) =>
  exportPage(rows, { limit, show: (row) => row, position: (row) => `at ${row[0]}` });

test('a page with all rows is the last page', () => {
  expect(page([], 2)).toEqual({ items: [], next: null });
  expect(page(['a', 'b'], 2)).toEqual({ items: ['a', 'b'], next: null });
});

test('a page ends at its limit, and the next page begins after it', () => {
  expect(page(['a', 'b', 'c'], 2)).toEqual({ items: ['a', 'b'], next: 'at b' });
});

test('a page ends before it exceeds its limit in bytes', () => {
  const half = (letter: string) => letter + 'ü'.repeat(exportPageBytes / 4 - 10);
  const rows = [half('a'), half('b'), half('c')];
  expect(page(rows, 10)).toEqual({ items: rows.slice(0, 2), next: 'at b' });
});

test('an item that is too large has a page of its own', () => {
  const large = `a${'x'.repeat(exportPageBytes)}`;
  expect(page([large, 'b'], 10)).toEqual({ items: [large], next: 'at a' });
  expect(page([large], 10)).toEqual({ items: [large], next: null });
});
