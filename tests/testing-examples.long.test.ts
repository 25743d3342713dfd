// Quick counterpart: apps/testing/tests/platform.test.ts
// Starts no platform and at most 3 processes.
import { type ExecFileException, execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { availableChromium } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../', import.meta.url));
const chromium = await availableChromium();

interface Ended {
  code: number | string;
  stdout: string;
  stderr: string;
}

/**
 * Runs a Node program in an example's folder. The environment has none of the variables of this test runner, as if somebody had
 * started the program at a prompt.
 */
function runNode(example: string, words: readonly string[]): Promise<Ended> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^VITEST|^NODE_(?!COMPILE_CACHE)/.test(name)),
  );
  const options = { cwd: join(root, 'examples/testing', example), env, maxBuffer: 10_000_000 };
  return new Promise((resolve) => {
    execFile(process.execPath, words, options, (error: ExecFileException | null, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });
}

describe('examples/testing', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kith-examples-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('vitest: four tests pass', async () => {
    const report = join(folder, 'vitest.json');
    const cli = join(root, 'node_modules/vitest/vitest.mjs');
    const words = [cli, 'run', '--reporter=json', `--outputFile.json=${report}`];
    const { code, stdout, stderr } = await runNode('vitest', words);
    expect(code, stdout + stderr).toBe(0);
    const { numPassedTests, numTotalTests } = JSON.parse(await readFile(report, 'utf8'));
    expect([numPassedTests, numTotalTests]).toEqual([4, 4]);
  }, 120_000);

  it('node:test: three tests pass', async () => {
    const { code, stdout, stderr } = await runNode('node-test', ['--test', '--test-reporter=tap']);
    expect(code, stdout + stderr).toBe(0);
    expect(stdout).toMatch(/^# tests 3\n[\s\S]*^# pass 3\n/m);
  }, 120_000);

  it.runIf(chromium)(
    'Playwright: two tests pass',
    async () => {
      const cli = join(root, 'node_modules/@playwright/test/cli.js');
      const words = [cli, 'test', '--reporter=json', '--output', folder];
      const { code, stdout, stderr } = await runNode('playwright', words);
      expect(code, stdout + stderr).toBe(0);
      const { stats } = JSON.parse(stdout);
      expect(stats).toMatchObject({ expected: 2, unexpected: 0, flaky: 0, skipped: 0 });
    },
    180_000,
  );
});
