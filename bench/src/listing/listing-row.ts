import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { atMost, figure, type Row, spread, table, type Verdict } from '../row.ts';
import { chart, type Line } from './chart.ts';
import { type PageName, pageNames } from './measure.ts';
import { type EngineName, type KindFigures, measureListing } from './row.ts';

const engines: Record<EngineName, string> = { sqlite: 'SQLite', mongodb: 'MongoDB API' };
const image = fileURLToPath(new URL('../../../docs/images/listing.svg', import.meta.url));
const page = fileURLToPath(new URL('../../../docs/listing.md', import.meta.url));

/** Measures how long a page of a list takes for each length of the list. */
export const listingRow: Row = {
  name: 'listing',
  title: 'Lists by their length',
  isQuick: false,
  async measure({ engines: { mongodbUrl }, folder, isQuick, progress }) {
    const figures = await measureListing({
      ...{ mongodbUrl, folder, progress },
      longest: isQuick ? 10_000 : 1_000_000,
      others: isQuick ? 20_000 : 1_000_000,
      rounds: isQuick ? 20 : 100,
    });
    if (!isQuick) writePage(figures);
    return { json: jsonOf(figures), markdown: describeListing(figures), verdicts: verdictsOf(figures) };
  },
  compared: (json: ReturnType<typeof jsonOf>) =>
    json.flatMap(({ engine, kind, lists }) =>
      lists.flatMap(({ size, ...pages }) =>
        Object.entries(pages).flatMap(([page, ms]) =>
          ms === undefined
            ? []
            : [{ name: `${kind} of ${size} on ${engine}: ${page}, ms`, value: ms, better: 'less' as const }],
        ),
      ),
    ),
};

/** Puts the chart and the figures into docs/listing.md. */
export function writePage(figures: readonly KindFigures[]): void {
  writeFileSync(image, drawListing(figures));
  const [before = '', rest = ''] = readFileSync(page, 'utf8').split(/(?<=<!-- figures -->\n)/);
  const after = rest.slice(rest.indexOf('<!-- /figures -->'));
  writeFileSync(page, `${before}\n${describeListing(figures)}\n\n${after}`);
}

/** Draws the chart. For each kind of list, the chart shows page 1, and a page near the end that is reached by cursor. */
export function drawListing(figures: readonly KindFigures[]): string {
  const names = [...new Set(figures.map(({ kind }) => kind))];
  const fields = Object.entries(engines).map(([engine, title]) => ({
    title,
    lines: figures.filter((one) => one.engine === engine).flatMap((one) => linesOf(one, names)),
  }));
  return chart(fields, 'How long a page of twenty takes');
}

function linesOf({ kind, title, lists }: KindFigures, names: readonly string[]): Line[] {
  const line = (name: PageName, what: string, isDashed: boolean): Line => ({
    title: `${title}, ${what}`,
    points: lists.flatMap(({ size, pages }) => {
      const ms = pages[name]?.median.ms;
      return ms === undefined ? [] : [{ size, ms }];
    }),
    isDashed,
    colour: names.indexOf(kind),
  });
  return [line('first', 'page 1', false), line('end', 'near the end, by cursor', true)];
}

/** The text of a table with all figures, also those of searches. */
export function describeListing(figures: readonly KindFigures[]): string {
  const lines = figures.flatMap(({ engine, title, lists }) =>
    lists.map(({ size, pages }) => [
      engines[engine],
      title,
      size.toLocaleString('en'),
      ...pageNames.map((name) => {
        const times = pages[name];
        return times ? spread(times.median.ms, times.least.ms, times.most.ms) : '';
      }),
    ]),
  );
  const searches = figures.flatMap(({ engine, title, lists }) =>
    lists.flatMap(({ size, queryMs }) =>
      queryMs === undefined ? [] : [[engines[engine], title, size.toLocaleString('en'), figure(queryMs)]],
    ),
  );
  return [
    table(
      [
        'engine',
        'list',
        'rows',
        'page 1',
        'middle, by cursor',
        'near the end, by cursor',
        'page number 1,000',
      ],
      lines,
    ),
    'Milliseconds for a page of twenty, from a service in the process of the benchmark: the median of the rounds, and their range. Each round requested pages from lists of all lengths, in another order.',
    'A list with `query` reads all of its rows, so its time grows with the number of rows (median of three):',
    table(['engine', 'list', 'rows', 'ms'], searches),
  ].join('\n\n');
}

/**
 * Judges the row's targets. Over all lengths, times may differ by a factor of at most 1.3. Page number 1,000 has to come within 25
 * ms.
 */
export function verdictsOf(figures: readonly KindFigures[]): Verdict[] {
  return figures.flatMap(({ engine, title, lists }) => {
    const medians = (...names: PageName[]) =>
      lists.flatMap(({ pages }) => names.flatMap((name) => pages[name]?.median.ms ?? []));
    const over = (times: number[]) => Math.max(...times) / Math.min(...times);
    const what = `${title} on ${engines[engine]}`;
    const thousandth = medians('thousandth');
    return [
      atMost(`${what}: page 1, slowest length over fastest`, over(medians('first')), 1.3),
      atMost(`${what}: pages by cursor, slowest over fastest`, over(medians('middle', 'end')), 1.3),
      ...(thousandth.length > 0
        ? [atMost(`${what}: page number 1,000`, Math.max(...thousandth), 25, ' ms')]
        : []),
    ];
  });
}

function jsonOf(figures: readonly KindFigures[]) {
  return figures.map(({ engine, kind, lists }) => ({
    engine,
    kind,
    lists: lists.map(({ size, pages, queryMs }) => ({
      size,
      ...(Object.fromEntries(pageNames.map((name) => [name, pages[name]?.median.ms])) as Record<
        PageName,
        number | undefined
      >),
      query: queryMs,
    })),
  }));
}
