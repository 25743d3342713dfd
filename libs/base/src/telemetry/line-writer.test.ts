import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { LineWriter } from './line-writer.ts';

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
let folder: string;
let reader: number;
let fd: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kith-lines-'));
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  reader = openSync(pipe, O_RDONLY | O_NONBLOCK);
  fd = openSync(pipe, O_WRONLY | O_NONBLOCK);
});
afterEach(() => {
  closeSync(fd);
  rmSync(folder, { recursive: true, force: true });
});

const lineOf = (at: number) => `${at} ${'x'.repeat(1_000)}\n`;
const read = () => {
  const buffer = Buffer.alloc(64 * 1024);
  try {
    return buffer.toString('utf8', 0, readSync(reader, buffer));
  } catch {
    // The pipe is empty at this moment.
    return '';
  }
};

it('lines wait for a slow reader in their order, and lines beyond the limit are dropped', async () => {
  const lines = new LineWriter(fd);
  for (let at = 0; at < 5_000; at++) lines.write(lineOf(at));
  expect(lines.waitingBytes).toBeLessThanOrEqual(1024 * 1024);
  let said = '';
  await vi.waitUntil(
    () => {
      const part = read();
      said += part;
      return part === '' && lines.waitingBytes === 0;
    },
    { timeout: 20_000, interval: 2 },
  );
  const all = said.match(/\d+ x+\n/g) ?? [];
  expect(all.length).toBeGreaterThan(1_000);
  expect(said).toBe(all.map((_, at) => lineOf(at)).join(''));
  lines.write('last\n');
  expect(read()).toBe('last\n');
  closeSync(reader);
});

it('after the reader has gone, lines are dropped', () => {
  const lines = new LineWriter(fd);
  for (let at = 0; at < 100; at++) lines.write(lineOf(at));
  expect(lines.waitingBytes).toBeGreaterThan(0);
  closeSync(reader);
  lines.end();
  expect(lines.waitingBytes).toBe(0);
  lines.write('nobody reads this\n');
  expect(lines.waitingBytes).toBe(0);
});
