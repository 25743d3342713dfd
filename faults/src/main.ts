// `npm run test:faults`: puts the platform under load, and causes one fault after the other.
//   --quick          a shorter run of five minutes, which reports times but does not judge them
//   --only a,b       only the rows with these names
//   --shard K/N      only part K of N of the rows
//   --rate N         requests a second (default: 200, or 100 with --quick); at most half of what the machine serves
//   --seed N         the seed for all random choices; the run prints its seed, so that it can be repeated
//   --before COMMIT  the older version, for the row that mixes two versions (default: HEAD~1)
//   --write          writes the results to docs/reliability.md
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { seeded } from '@kith/bench/random';
import { type Crowd, gather } from './load/load.ts';
import { line, writeReport } from './report.ts';
import { hasPassed, type Outcome } from './row.ts';
import { grounds } from './rows/index.ts';
import { runRow } from './run-row.ts';
import { checkOut } from './world/version-before.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    shard: { type: 'string', default: '1/1' },
    rate: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    before: { type: 'string', default: 'HEAD~1' },
    write: { type: 'boolean', default: false },
  },
});
const warmMs = 10_000;
/** A rate that no machine reaches. So only the number of requests under way limits the load. */
const asManyAsPossible = 5_000;
/** At a lower rate, a fault would meet hardly any request, so a row would show nothing. */
const leastRate = 10;
const rows = grounds.flatMap((ground) => ground.rows);
const wanted = values.only?.split(',');
const unknown = wanted?.find((name) => !rows.some((row) => row.name === name));
if (unknown) fail(`There is no row ${unknown}; there are ${rows.map(({ name }) => name).join(', ')}.`);
const seed = Number(values.seed);
const rate = Number(values.rate ?? (values.quick ? 100 : 200));
const judgesTimes = !values.quick;
if (!Number.isInteger(seed) || !(rate > 0)) fail('--seed and --rate are numbers.');
const [part = 0, parts = 0] = values.shard.split('/').map(Number);
if (!(part >= 1 && part <= parts)) fail('--shard is K/N, with K from 1 to N.');

const progress = (text: string) => process.stderr.write(`  ${text}\n`);
const random = seeded(seed);
console.log(`Seed ${seed}, ${rate} requests a second`);
const outcomes: Outcome[] = [];
try {
  await using ends = new AsyncDisposableStack();
  let tree: Promise<string> | undefined;
  const before = () => (tree ??= checkOut(values.before).then((made) => ends.use(made).folder));
  const chosen = rows
    .filter(({ name, quick }) => (wanted ? wanted.includes(name) : !values.quick || quick > 0))
    .filter((_, at) => at % parts === part - 1);
  for (const ground of grounds.filter((one) => one.rows.some((row) => chosen.includes(row)))) {
    await ground.work(chosen, progress, async (world, some) => {
      const { url, operatorToken } = world;
      const crowd = await gather(url, { operatorToken, size: 40, random });
      const load = Math.min(rate, Math.floor((await mostServed(crowd)) / 2));
      if (load < leastRate) throw new Error(`The platform serves only ${2 * load} requests a second.`);
      progress(`${load} requests a second`);
      for (const row of some) {
        progress(`${row.title} …`);
        const times = values.quick ? Math.max(1, row.quick) : row.times;
        const outcome = await runRow(row, { world, crowd, before, random, rate: load, times, progress });
        outcomes.push(outcome);
        console.log(line(outcome, judgesTimes));
        // The report is written after each row, so that it has the finished rows even if the run is interrupted.
        if (values.write) writeReport({ outcomes, of: rows.length, seed, rate });
      }
    });
  }
} catch (error) {
  console.error((error as Error).stack);
  process.exitCode = 1;
}
const passed = outcomes.filter((outcome) => hasPassed(outcome, judgesTimes)).length;
const failed = outcomes.length - passed + (process.exitCode ? 1 : 0);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);

/**
 * Measures the highest rate that the platform serves, in requests per second. The rows get at most half of this rate: at a
 * higher rate, the effects of a fault could not be distinguished from the effects of the load. Newly started processes are
 * slow, so a first load warms them up.
 */
async function mostServed(crowd: Crowd): Promise<number> {
  const warm = crowd.load(rate / 2);
  await sleep(warmMs);
  await warm();
  const record = crowd.begin();
  const from = performance.now();
  const most = crowd.load(asManyAsPossible, undefined, 64);
  await sleep(warmMs / 2);
  await most();
  return (record.served / (performance.now() - from)) * 1000;
}

function fail(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(2);
}
