// Starts no platform and at most 3 processes.
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServiceProcess } from './processes.ts';

const ready = JSON.stringify({ type: 'ready', internalPort: 1 });
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-processes-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Starts a process that runs `code`, and ends it. Resolves with what was said about a slow start. */
async function start(code: string, times: { slowMs?: number; mostMs?: number }): Promise<string[]> {
  const main = join(folder, 'main.ts');
  await writeFile(main, code);
  const lines: string[] = [];
  const progress = (line: string) => {
    lines.push(line);
    writeFileSync(join(folder, 'told'), '');
  };
  const logFile = join(folder, 'crypto.log');
  const one = await startServiceProcess('crypto', { env: process.env, logFile, main, progress, times });
  await one.kill();
  return lines;
}

test('a slow start is said, and not interrupted', async () => {
  // Becomes ready only after something was said.
  const slow = `
    import { existsSync } from 'node:fs';
    const told = ${JSON.stringify(join(folder, 'told'))};
    setInterval(() => existsSync(told) && process.send(${ready}), 20);
  `;
  const lines = await start(slow, { slowMs: 10 });
  expect(lines).toEqual([`crypto is still starting; its log is ${join(folder, 'crypto.log')}`]);
});

test('nothing is said about a start that is not slow', async () => {
  expect(await start(`process.send(${ready});setInterval(() => {}, 1_000);`, {})).toEqual([]);
});

test('a process that never becomes ready is ended', async () => {
  const started = start('setInterval(() => {}, 1_000);', { mostMs: 500 });
  await expect(started).rejects.toThrow('crypto was not ready after 0.5 s.');
});
