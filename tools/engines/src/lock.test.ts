import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { exclusively } from './lock.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-lock-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('only one caller works at a time, and a waiting caller reports once that it waits', async () => {
  const file = join(folder, 'lock');
  const lines: string[] = [];
  const progress = (line: string) => lines.push(line);
  const events: string[] = [];
  const begun = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const first = exclusively(
    async () => {
      begun.resolve();
      await release.promise;
      events.push('first');
    },
    { progress, file },
  );
  await begun.promise;
  const second = exclusively(async () => events.push('second'), { progress, file });
  expect(lines).toHaveLength(1);
  release.resolve();
  await Promise.all([first, second]);
  expect(events).toEqual(['first', 'second']);
  expect(lines).toHaveLength(1);
});

test('the lock is released if the work fails', async () => {
  const options = { progress: () => {}, file: join(folder, 'lock') };
  await expect(exclusively(() => Promise.reject(new Error('no')), options)).rejects.toThrow('no');
  await expect(exclusively(async () => 'yes', options)).resolves.toBe('yes');
});
