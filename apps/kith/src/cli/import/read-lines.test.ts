import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readLines } from './read-lines.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-lines-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function read(text: string, from = { offset: 0, line: 0 }) {
  const path = join(folder, 'file');
  await writeFile(path, text);
  await using file = await open(path);
  const lines: { number: number; text: string; end: number }[] = [];
  for await (const { number, bytes, end } of readLines(file, from))
    lines.push({ number, text: bytes.toString(), end });
  return lines;
}

test('readLines returns each line with its number and end position, even a last line without a line end', async () => {
  expect(await read('één\n\nthree')).toEqual([
    { number: 1, text: 'één', end: 6 },
    { number: 2, text: '', end: 7 },
    { number: 3, text: 'three', end: 12 },
  ]);
  expect(await read('')).toEqual([]);
  expect(await read('one\n')).toHaveLength(1);
});

test('readLines continues after any line, even if the line is read in two blocks', async () => {
  const texts = Array.from({ length: 3_000 }, (_, row) => `${row}`.padEnd(row % 1_500, 'x'));
  const all = await read(texts.join('\n'));
  expect(all.map(({ text }) => text)).toEqual(texts);
  for (const at of [0, 1_234, 2_998]) {
    const { number, end } = all[at]!;
    expect(await read(texts.join('\n'), { offset: end, line: number })).toEqual(all.slice(at + 1));
  }
});

test.each(['\n', '\r\n'])(
  'a line end that is added later to the last line does not begin a new line: %j',
  async (end) => {
    const [first] = await read('one');
    const after = { offset: first!.end, line: 1 };
    expect(await read(`one${end}two`, after)).toEqual([{ number: 2, text: 'two', end: 6 + end.length }]);
    expect(await read(`one${end}`, after)).toEqual([]);
    expect(await read(`one${end}${end}two`, after)).toMatchObject([
      { number: 2 },
      { number: 3, text: 'two' },
    ]);
  },
);

test('if a line is longer than any row, readLines returns its beginning, and then the next lines', async () => {
  const long = 5 * 1024 * 1024 + 7;
  const [first, second, ...more] = await read(`${'x'.repeat(long)}\nnext`);
  expect(first).toMatchObject({ number: 1, end: long + 1 });
  expect(first?.text.length).toBeGreaterThan(1024 * 1024 - 1);
  expect(first?.text.length).toBeLessThan(3 * 1024 * 1024);
  expect(second).toEqual({ number: 2, text: 'next', end: long + 5 });
  expect(more).toEqual([]);
  expect((await read('x'.repeat(long))).map(({ end }) => end)).toEqual([long]);
});
