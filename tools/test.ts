// `npm test` and, with --long, `npm run test:long`: starts the engines once, runs the suites on them, and stops them again. With
// KITH_TEST_ENGINES=embedded, it needs no engines. --related runs only the suites that the uncommitted changes affect. The output
// ends with one `✗` for each failed test, and a line `N passed, N failed`. Other arguments go to vitest.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { type EngineImages, provideChromium, provideEngines, startContainers } from '@kith/engines';
import { prepareS3 } from '@kith/testing';
import { openDesk } from './test/desk.ts';
import { relatedFiles } from './test/related.ts';

const own = new Set(['--long', '--related']);
const words = process.argv.slice(2).filter((word) => !own.has(word));
const has = (word: string) => process.argv.includes(word);

const folder = mkdtempSync(join(tmpdir(), 'kith-test-'));
const report = join(folder, 'report.json');
// With this cache, code that one process has compiled is not compiled again by the hundreds of other processes of a run.
process.env.NODE_COMPILE_CACHE ??= join(folder, 'compiled');
process.env.NODE_ENV = 'test';
if (has('--long')) process.env.KITH_TEST_LENGTH = 'long';
let engines: Awaited<ReturnType<typeof startContainers>> | undefined;
let code = 1;
try {
  if (has('--related')) words.push(...relatedFiles());
  code = await run();
} catch (error) {
  console.error((error as Error).message);
} finally {
  await engines?.stop();
  printSummary();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(code);

async function run(): Promise<number> {
  const progress = (line: string) => console.error(`  ${line}`);
  // If no S3 server can be prepared, the run continues, and only the suites that need the server fail.
  await prepareS3(progress).catch((error: Error) => progress(error.message));
  // The same holds for Chromium. It is installed here, because test files wait only five minutes for the browser.
  await provideChromium({ progress }).catch((error: Error) => progress(error.message));
  if (process.env.KITH_TEST_ENGINES === 'embedded') return vitest();
  const provided = await provideEngines({ env: process.env, progress });
  if (provided.kind === 'none') {
    if (process.env.CI === 'true') throw new Error(provided.reason);
    console.error(`Suites on real engines are skipped: ${provided.reason}`);
    process.env.KITH_TEST_ENGINES = 'embedded';
    return vitest();
  }
  const { mongodbUrl, natsUrl, redisUrl } =
    provided.kind === 'urls' ? provided : await startSharedEngines(provided.images, progress);
  Object.assign(process.env, { MONGODB_URL: mongodbUrl, NATS_URL: natsUrl, REDIS_URL: redisUrl });
  return vitest();
}

/**
 * Starts the engines that all suites share. The engines are not stopped before the end of the run, so their direct URLs stay
 * valid, and their data can be in memory.
 */
async function startSharedEngines(images: EngineImages, progress: (line: string) => void) {
  engines = await startContainers({ images, isInMemory: true, progress });
  const { mongo, nats, redis } = engines;
  const [mongodbUrl, natsUrl, redisUrl] = await Promise.all(
    [mongo, nats, redis].map((engine) => engine.directUrl()),
  );
  return { mongodbUrl, natsUrl, redisUrl };
}

async function vitest(): Promise<number> {
  await using desk = await openDesk();
  const reporters = ['default', 'json', './tools/test/slow-files.ts'].map((name) => `--reporter=${name}`);
  const child = spawn(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', ...reporters, `--outputFile.json=${report}`, ...words],
    { stdio: 'inherit', env: { ...process.env, KITH_TEST_DESK: desk.url } },
  );
  // If somebody presses Ctrl-C in a terminal, the child also gets SIGINT and ends. So this process ignores SIGINT and waits for
  // the child. SIGTERM may reach only this process, so this process passes SIGTERM on to the child.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return await new Promise((resolve) => child.on('exit', (status) => resolve(status ?? 1)));
}

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numFailedTestSuites: number;
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
  }[];
}

function printSummary(): void {
  try {
    const found: Report = JSON.parse(readFileSync(report, 'utf8'));
    const { numPassedTests, numFailedTests, numFailedTestSuites } = found;
    for (const line of failures(found)) console.log(line);
    // If a suite could not be loaded, it counts as failed, although it has no failed test.
    const failed = numFailedTests || (code === 0 ? 0 : Math.max(1, numFailedTestSuites));
    console.log(`${numPassedTests} passed, ${failed} failed`);
  } catch {
    console.log('0 passed, 1 failed');
  }
}

/** A line for each failed test, and for each file that could not be loaded. So people see the failures at the end of the log. */
function failures({ testResults }: Report): string[] {
  return testResults
    .filter(({ status }) => status === 'failed')
    .flatMap(({ name, message, assertionResults }) => {
      const file = relative(process.cwd(), name);
      const tests = assertionResults.filter(({ status }) => status === 'failed');
      if (tests.length === 0) return [`✗ ${file}: ${firstLine(message)}`];
      return tests.map(
        ({ fullName, failureMessages }) => `✗ ${file}: ${fullName}: ${firstLine(failureMessages[0])}`,
      );
    });
}

function firstLine(text = ''): string {
  return stripVTControlCharacters(text.split('\n', 1)[0] ?? '');
}
