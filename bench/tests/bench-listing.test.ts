import { availableEngines, callerOf, callOperation, createStore, fillStore } from '@kith/testing';
import { describe, expect, it } from 'vitest';
import { chart } from '../src/listing/chart.ts';
import { interleave, type Stream } from '../src/listing/interleave.ts';
import { describeListing } from '../src/listing/listing-row.ts';
import { measureKind } from '../src/listing/measure.ts';
import { layoutsOf } from '../src/listing/row.ts';

const sizes = [100, 1_000];

describe.each(availableEngines())('the lists of the benchmark (%s)', (engine) => {
  it.each(Object.entries(layoutsOf({ longest: 1_000, others: 2_000 })))(
    '%s: the service returns the stored lists, each with its expected length',
    async (_service, make) => {
      await using place = await createStore(engine);
      const layout = make();
      expect(await fillStore(place.config, layout.move, layout.rows())).toBeGreaterThan(1_100);
      await using served = await layout.serve(place.config);
      for (const kind of layout.kinds) {
        expect(kind.targets.map(({ size }) => size)).toEqual(sizes);
        for (const { projectId, userId, params, size } of kind.targets) {
          const asked = {
            projectId,
            caller: callerOf(userId),
            params,
            form: '/v7',
            wireVersion: 'v7' as const,
          };
          const { body } = await callOperation(served.bus, kind.spec, asked);
          const { totalCount, totalItems } = body.pagination ?? {};
          if (kind.hasNumbers) expect(totalCount ?? totalItems).toBe(size);
          for (const one of body.connections ?? body.requests ?? []) {
            expect((one.connectedUser ?? one.user).name).toMatch(/^Person/);
          }
        }
        const figures = await measureKind(served.bus, kind, 1);
        expect(figures.map(({ pages }) => Object.keys(pages))).toEqual(
          sizes.map(() => ['first', 'middle', 'end']),
        );
        const markdown = describeListing([
          { engine: 'sqlite', kind: kind.name, title: kind.title, lists: figures },
        ]);
        expect(
          markdown.split('\n').filter((line) => line.startsWith(`| SQLite | ${kind.title}`)).length,
        ).toBe(sizes.length * (kind.hasQuery ? 2 : 1));
      }
    },
  );
});

it('interleave() mixes the rows of several lists as if all lists had grown at the same time', () => {
  const stream = (table: string, size: number): Stream => ({
    size,
    rows: Array.from({ length: size }, (_, at) => ({ table, row: { at } })).values(),
  });
  const given = [...interleave([stream('a', 4), stream('b', 2)])];
  expect(given.map(({ table }) => table).join('')).toMatch(/^(ab|ba)aa?ba?a?/);
  expect(given.filter(({ table }) => table === 'a').map(({ row }) => row.at)).toEqual([0, 1, 2, 3]);
  expect(given).toHaveLength(6);
});

it('the chart has one line per list, and draws each time at its height', () => {
  const line = { title: 'connections', isDashed: false, colour: 0 };
  const points = [
    { size: 100, ms: 1 },
    { size: 1_000_000, ms: 2 },
  ];
  const drawn = chart([{ title: 'SQLite', lines: [{ ...line, points }] }], 'Pages');
  const [, x1, y1, x2, y2] = /class="c0" d="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)"/.exec(drawn)!.map(Number);
  expect(x2! - x1!).toBe(380);
  // The time of the second point is twice as long, so the point is twice as high above the bottom.
  const bottom = 56 + 220;
  expect((bottom - y2!) / (bottom - y1!)).toBeCloseTo(2, 1);
});
