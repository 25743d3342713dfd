// Starts no platform and at most 4 processes.
import { writeFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isProcessAlive } from '@kith/base';
import { waitFor } from '@kith/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServiceProcess } from './processes.ts';

const ready = JSON.stringify({ type: 'ready', internalPort: 1 });
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-processes-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Starts a process that runs `code`, and ends it or waits until it has ended. Resolves with what was reported about a slow start. */
async function start(
  code: string,
  { until = 'kill', ...options }: { until?: 'kill' | 'exit'; slowMs?: number; signal?: AbortSignal } = {},
): Promise<string[]> {
  const main = join(folder, 'main.ts');
  await writeFile(main, code);
  const lines: string[] = [];
  const progress = (line: string) => {
    lines.push(line);
    writeFileSync(join(folder, 'told'), '');
  };
  const logFile = join(folder, 'crypto.log');
  const one = await startServiceProcess('crypto', { env: process.env, logFile, main, progress, ...options });
  await (until === 'exit' ? one.exited : one.kill());
  return lines;
}

test('a slow start is reported, and not interrupted', async () => {
  // This process becomes ready only after something was reported.
  const slow = `
    import { existsSync } from 'node:fs';
    const told = ${JSON.stringify(join(folder, 'told'))};
    setInterval(() => existsSync(told) && process.send(${ready}), 20);
  `;
  const lines = await start(slow, { slowMs: 10 });
  expect(lines).toEqual([`crypto is still starting; its log is ${join(folder, 'crypto.log')}`]);
});

test('nothing is reported about a start that is not slow', async () => {
  expect(await start(`process.send(${ready});setInterval(() => {}, 1_000);`)).toEqual([]);
});

test('what a process writes to stderr after its start is in its log', async () => {
  const crashes = `process.send(${ready}, () => { throw new Error('a late failure'); });`;
  await start(crashes, { until: 'exit' });
  const log = () => readFile(join(folder, 'crypto.log'), 'utf8');
  await expect.poll(log).toContain('Error: a late failure');
});

test('a process whose start is no longer wanted is killed', async () => {
  const ending = new AbortController();
  const file = join(folder, 'pid');
  const neverReady = `
    import { writeFileSync } from 'node:fs';
    writeFileSync(${JSON.stringify(file)}, String(process.pid));
    setInterval(() => {}, 1_000);
  `;
  const refused = expect(start(neverReady, { signal: ending.signal })).rejects.toThrow('no longer wanted');
  const pid = await waitFor(async () => Number(await readFile(file, 'utf8')), { what: 'the process' });
  ending.abort(new Error('no longer wanted'));
  await refused;
  await waitFor(() => !isProcessAlive(pid), { what: 'the end of the process' });
});
