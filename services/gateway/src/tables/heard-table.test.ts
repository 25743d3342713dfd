import { describe, expect, it } from 'vitest';
import { HeardTable } from './heard-table.ts';

describe('a table that hears changes', () => {
  it('has for each id the last value that was heard, until a whole table replaces all values', () => {
    const table = new HeardTable<number>();
    table.replace([['kept', 1]], table.mark);
    table.hear('told', 1);
    table.hear('told', 2);
    table.hear('kept', null);
    expect([table.get('told'), table.get('kept')]).toEqual([2, undefined]);
    table.replace([['kept', 3]], table.mark);
    expect([table.get('told'), table.get('kept')]).toEqual([undefined, 3]);
  });

  it('keeps only changes that were heard while the whole table was on its way', () => {
    const table = new HeardTable<number>();
    table.hear('before', 1);
    table.hear('gone before', null);
    const { mark } = table;
    table.hear('since', 2);
    table.hear('gone since', null);
    table.replace(
      [
        ['before', 9],
        ['gone before', 9],
        ['since', 9],
        ['gone since', 9],
      ],
      mark,
    );
    const ids = ['before', 'gone before', 'since', 'gone since'];
    expect(ids.map((id) => table.get(id))).toEqual([9, 9, 2, undefined]);
    table.replace([], mark);
    expect(table.get('since')).toBe(2);
    table.replace([], table.mark);
    expect(table.get('since')).toBeUndefined();
  });
});
