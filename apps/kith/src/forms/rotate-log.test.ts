import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { rotateLog } from './rotate-log.ts';

it('a log does not grow while a process goes on writing it, and one older file is kept', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kith-log-'));
  const file = join(folder, 'identity.log');
  const log = openSync(file, 'a', 0o600);
  const read = () => readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]);
  for (const line of ['first\n', 'third\n', 'x\n']) {
    writeSync(log, line);
    rotateLog(file, 4);
  }
  expect(read()).toEqual([
    ['identity.log', 'x\n'],
    ['identity.log.1', 'ird\n'],
  ]);
  closeSync(log);
  rmSync(folder, { recursive: true });
  expect(() => rotateLog(file, 4)).not.toThrow();
});
