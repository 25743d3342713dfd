// `npm test`: brings the engines up once, runs every suite on them, takes them down again; with
// KITH_TEST_ENGINES=embedded it needs none. Ends with a line `N passed, N failed`. Arguments go to vitest.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { provideEngines, startContainers } from '@kith/platform/engines';

const folder = mkdtempSync(join(tmpdir(), 'kith-test-'));
const report = join(folder, 'report.json');
let engines: Awaited<ReturnType<typeof startContainers>> | undefined;
let code = 1;
try {
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
  if (process.env.KITH_TEST_ENGINES === 'embedded') return vitest({});
  const progress = (line: string) => console.error(`  ${line}`);
  const provided = await provideEngines({ env: process.env, progress });
  if (provided.kind === 'none') {
    if (process.env.CI === 'true') throw new Error(provided.reason);
    console.error(`Suites on real engines are skipped: ${provided.reason}`);
    return vitest({ KITH_TEST_ENGINES: 'embedded' });
  }
  if (provided.kind === 'docker') engines = await startContainers({ images: provided.images, progress });
  const { mongodbUrl, natsUrl, redisUrl } =
    provided.kind === 'urls' ? provided : (engines ?? (provided as never));
  return vitest({ MONGODB_URL: mongodbUrl, NATS_URL: natsUrl, REDIS_URL: redisUrl });
}

function vitest(env: NodeJS.ProcessEnv): Promise<number> {
  const words = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  // What one of hundreds of processes has compiled, the others need not.
  const NODE_COMPILE_CACHE = join(folder, 'compiled');
  const child = spawn(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', ...words, ...process.argv.slice(2)],
    { stdio: 'inherit', env: { NODE_COMPILE_CACHE, ...process.env, NODE_ENV: 'test', ...env } },
  );
  // A terminal's Ctrl-C reaches it by itself; what is sent to this process alone is handed on.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve) => child.on('exit', (status) => resolve(status ?? 1)));
}

function printSummary(): void {
  try {
    const { numPassedTests, numFailedTests, numFailedTestSuites } = JSON.parse(readFileSync(report, 'utf8'));
    // A suite that could not be loaded has no failed test of its own.
    const failed = numFailedTests || (code === 0 ? 0 : Math.max(1, numFailedTestSuites));
    console.log(`${numPassedTests} passed, ${failed} failed`);
  } catch {
    console.log('0 passed, 1 failed');
  }
}
