import { defineConfig } from 'vitest/config';
import { suitesEndingWith, suitesOfBothRuns } from './tools/test/suites-of-both-runs.ts';

/** Which of the two commands runs: `npm test` or `npm run test:long`. */
const isLong = process.env.KITH_TEST_LENGTH === 'long';

const alone = suitesEndingWith('.alone.test.ts');
const long = suitesEndingWith('.long.test.ts');

export default defineConfig({
  test: {
    // These limits only end tests that hang. They are long, because on a busy machine starting a process takes several seconds.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 2,
    // A test without assertions could never fail, so a test needs at least one. On a busy machine, a result can take long, so
    // `expect.poll` waits up to 15 seconds, as `waitFor` does.
    expect: { requireAssertions: true, poll: { timeout: 15_000 } },
    setupFiles: ['tools/test/count-starts.ts', 'tools/test/real-clock.ts'],
    projects: [
      {
        test: {
          name: 'shared',
          // A worker runs one file after another in the same environment. So a module that several files import is loaded only
          // once.
          isolate: false,
          include: isLong ? [...long, ...suitesOfBothRuns()] : suitesEndingWith('.test.ts'),
          exclude: isLong ? alone : [...alone, ...long],
        },
      },
      // Files named `*.alone.test.ts` change something that other files in the same worker would see. So each of them runs
      // isolated.
      ...(isLong ? [] : [{ test: { name: 'alone', include: alone } }]),
    ],
  },
});
