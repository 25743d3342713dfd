// `npm run bench`: measures the rows in one go and writes bench/RESULTS.md.
//   --quick        fewer rows, in less than five minutes; RESULTS.md stays as it is
//   --json         ends with one line, the figures as a JSON object
//   --only a,b     only these rows; RESULTS.md stays as it is
//   --before DIR   measures another checkout beside this one: its gateway, and the rows that are compared
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { measureBeside } from './beside.ts';
import { type BenchEngines, benchEngines } from './engines.ts';
import { provideWrk } from './load/provide-wrk.ts';
import { describeMachine, watchStolen } from './machine.ts';
import { type Measured, report } from './report.ts';
import type { RowResult } from './row.ts';
import { rows } from './rows.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string' },
    before: { type: 'string' },
  },
});
const wanted = values.only?.split(',');
const isWhole = !wanted && !values.quick;
const unknown = wanted?.find((name) => !rows.some((row) => row.name === name));
if (unknown) {
  fail(`There is no row ${unknown}; there are ${rows.map(({ name }) => name).join(', ')}.`);
}
if (process.platform !== 'linux')
  fail('The benchmark runs only on Linux, because it reads CPU times from /proc.');

const progress = (line: string) => process.stderr.write(`  ${line}\n`);
const folder = mkdtempSync(join(tmpdir(), 'kith-bench-'));
try {
  const wrk = await provideWrk(progress);
  await using engines = await benchEngines(progress);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => breakOff(engines));
  const context = { engines, wrk, folder, isQuick: values.quick, before: values.before, progress };
  const command = ['npm run bench', ...(isWhole ? [] : ['--'])];
  if (values.quick) command.push('--quick');
  if (wanted) command.push(`--only ${wanted.join(',')}`);
  const machine = describeMachine(engines.images);
  const results: Measured[] = [];
  let text = '';
  const chosen = rows.filter((row) => (wanted ? wanted.includes(row.name) : !values.quick || row.isQuick));
  for (const [at, row] of chosen.entries()) {
    progress(`${row.title} …`);
    const stolen = watchStolen();
    const result = await (row.compared && values.before
      ? measureBeside({ ...row, compared: row.compared }, { ...context, before: values.before })
      : row.measure(context)
    ).catch(unmeasured);
    results.push({ row, result, stolen: stolen() });
    text = report(command.join(' '), machine, results, chosen.slice(at + 1));
    // The file is written after each row, so that an interrupted run keeps its finished rows.
    if (isWhole) writeFileSync(fileURLToPath(new URL('../RESULTS.md', import.meta.url)), text);
  }
  if (!isWhole) process.stdout.write(text);
  if (values.json) {
    const json = Object.fromEntries(results.map(({ row, result }) => [row.name, result.json]));
    process.stdout.write(`${JSON.stringify(json)}\n`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The result of a row that has failed. The other rows still run, and the run ends with exit code 1. */
function unmeasured(error: Error): RowResult {
  process.exitCode = 1;
  progress(`not measured: ${error.stack}`);
  return { json: null, markdown: `Not measured: ${error.message}`, verdicts: [] };
}

/** Ends an interrupted run, and removes its containers and its folder. The run's other processes end with this process. */
async function breakOff(engines: BenchEngines): Promise<never> {
  await engines[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
  process.exit(1);
}

function fail(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}
