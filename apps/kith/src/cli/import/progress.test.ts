import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartError } from '@kith/base';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ProgressFile } from './progress.ts';

const text = '{"foreignId":"1","email":"bad"}\n{"foreignId":"2"}\n';
let folder: string;
let file: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-progress-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const openProgress = (options: { restart?: boolean } = {}) =>
  stat(file).then(({ size }) =>
    ProgressFile.open(file, { projectId: 'p', kind: 'users', size, restart: options.restart ?? false }),
  );

beforeEach(async () => {
  file = join(folder, `users-${Math.random()}.jsonl`);
  await writeFile(file, text);
  const kept = await openProgress();
  const done = { offset: text.length, line: 2, imported: 1, rejected: 1 };
  await kept.advance({ ...kept.progress, ...done }, [{ line: 1, reason: 'no' }]);
  await kept.close();
});

test('an import continues where it stopped, even if the file has grown', async () => {
  await writeFile(file, `${text}{"foreignId":"3"}\n`);
  const kept = await openProgress();
  expect(kept.progress).toMatchObject({ offset: text.length, line: 2, imported: 1, rejected: 1 });
  await kept.close();
});

test('an import refuses a file whose imported lines have changed, unless it is restarted', async () => {
  await writeFile(file, text.replace('bad', 'good@example.com'));
  await expect(openProgress()).rejects.toThrow(StartError);
  await expect(openProgress()).rejects.toThrow('--restart');
  const anew = await openProgress({ restart: true });
  expect(anew.progress).toMatchObject({ offset: 0, line: 0, rejectedBytes: 0 });
  await anew.close();
});

test('after the file of rejected lines was moved away, newly rejected lines go to a new file', async () => {
  await rm(`${file}.rejected.jsonl`);
  const kept = await openProgress();
  await kept.advance(kept.progress, [{ line: 3, reason: 'again' }]);
  await kept.close();
  expect(await readFile(`${file}.rejected.jsonl`, 'utf8')).toBe('{"line":3,"reason":"again"}\n');
  expect((await stat(`${file}.rejected.jsonl`)).mode & 0o777).toBe(0o600);
});

test('a second import of a file is refused while the first is running', async () => {
  const kept = await openProgress();
  for (const restart of [false, true])
    await expect(openProgress({ restart })).rejects.toThrow(`Another kith import of ${file} is running`);
  await kept.advance({ ...kept.progress, imported: 7 }, []);
  await kept.close();
  const next = await openProgress();
  expect(next.progress.imported).toBe(7);
  await next.close();
});
