import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { atLeast, type Compared, figure, type Row, type RowResult, table } from './row.ts';

const run = promisify(execFile);
const own = fileURLToPath(new URL('../..', import.meta.url));
/**
 * How many rounds a run has. The rounds of a quick run are short, so other work on the machine can spoil a whole round. A quick
 * run therefore has more rounds than a full run.
 */
const roundsOf = (isQuick: boolean) => (isQuick ? 7 : 3);
/** The lowest accepted ratio of this checkout's figures to the other checkout's figures. */
const least = 0.95;

/**
 * Measures the same row of the benchmark in another checkout and in this checkout, in turn. Each measurement runs in a process
 * of its own. Compares the best round of each checkout, because other work on the machine only makes rounds worse. A ratio
 * above 1 means that this checkout is better. The report also lists the ratio of every single round, so that readers see how
 * much the ratios vary.
 */
export async function measureBeside(
  row: Row & Required<Pick<Row, 'compared'>>,
  { before, isQuick, progress }: { before: string; isQuick: boolean; progress: (line: string) => void },
): Promise<RowResult> {
  const rounds = roundsOf(isQuick);
  const measured: Record<'before' | 'now', Map<string, Compared>>[] = [];
  for (let round = 1; round <= rounds; round++) {
    const figures = { before: new Map<string, Compared>(), now: new Map<string, Compared>() };
    // The two checkouts take turns in being measured first. So if the machine gets slower or faster during the run, this
    // affects both checkouts.
    const turns = [['before', before] as const, ['now', own] as const];
    for (const [name, checkout] of round % 2 === 1 ? turns : turns.toReversed()) {
      progress(`${row.name}, round ${round} of ${rounds}: ${name} …`);
      const words = ['bench/src/main.ts', '--only', row.name, '--json', ...(isQuick ? ['--quick'] : [])];
      const { stdout } = await run(process.execPath, words, { cwd: checkout, maxBuffer: 1 << 26 });
      const json = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
      figures[name] = new Map(row.compared(json[row.name]).map((one) => [one.name, one]));
    }
    measured.push(figures);
  }
  const names = [...(measured[0]?.now.keys() ?? [])].filter((name) => measured[0]?.before.has(name));
  const compared = names.map((name) => {
    const pairs = measured.map(({ before: old, now }) => [old.get(name)!, now.get(name)!] as const);
    const ratios = pairs.map(([old, now]) =>
      now.better === 'more' ? now.value / old.value : old.value / now.value,
    );
    const isRate = pairs[0]?.[1].better === 'more';
    const best = (at: 0 | 1) => Math[isRate ? 'max' : 'min'](...pairs.map((pair) => pair[at].value));
    const ratio = isRate ? best(1) / best(0) : best(0) / best(1);
    return { name, before: best(0), now: best(1), ratio, ratios };
  });
  return {
    json: Object.fromEntries(compared.map(({ name, ...rest }) => [name, rest])),
    markdown: table(
      ['figure', 'before', 'now', 'ratio', 'ratio of each round'],
      compared.map(({ name, before: old, now, ratio, ratios }) => [
        ...[name, figure(old), figure(now), ratio.toFixed(2)],
        ratios.map((one) => one.toFixed(2)).join(', '),
      ]),
    ),
    verdicts: compared.map(({ name, ratio }) => atLeast(`${name}, over the version before`, ratio, least)),
  };
}
