import { expect, test } from 'vitest';
import { type Batch, batches } from './batches.ts';
import { type ImportKind, importKinds } from './kinds.ts';
import type { Line } from './read-lines.ts';

const [users, , collections, entities] = importKinds as [ImportKind, ImportKind, ImportKind, ImportKind];

async function* linesOf(texts: readonly string[]): AsyncGenerator<Line> {
  let end = 0;
  for (const [index, text] of texts.entries()) {
    end += text.length + 1;
    yield { number: index + 1, bytes: Buffer.from(text), end };
  }
}

async function group(texts: readonly string[], kind = entities): Promise<Batch[]> {
  const all: Batch[] = [];
  for await (const batch of batches(linesOf(texts), kind)) all.push(batch);
  return all;
}

const row = (entityId: string, metadata?: object) =>
  JSON.stringify({
    userForeignId: 'u',
    entityId,
    addedAt: '2020-01-02T03:04:05Z',
    ...(metadata && { metadata }),
  });

test('a request has at most a thousand rows, and every line is in exactly one request', async () => {
  const all = await group(Array.from({ length: 2_500 }, (_, index) => row(String(index))));
  expect(all.map(({ rows }) => rows.length)).toEqual([1000, 1000, 500]);
  expect(all.flatMap(({ lines }) => lines)).toEqual(Array.from({ length: 2_500 }, (_, index) => index + 1));
  expect(all.map(({ end }) => end.line)).toEqual([1000, 2000, 2500]);
});

test('a request stays below the maximum size of a body, even if its rows are large', async () => {
  const metadata = { text: 'ü'.repeat(3_500) };
  const all = await group(Array.from({ length: 100 }, (_, index) => row(String(index), metadata)));
  expect(all.length).toBeGreaterThan(2);
  for (const { rows } of all)
    expect(Buffer.byteLength(`{"rows":[${rows.join(',')}]}`)).toBeLessThan(256 * 1024);
  expect(all.flatMap(({ rows }) => rows)).toHaveLength(100);
});

test('lines that are not valid rows are reported, and blank lines are not', async () => {
  const [batch, ...others] = await group([
    '',
    row('one'),
    '{',
    '{}',
    '7',
    row('two'),
    '  ',
    `"${'x'.repeat(300_000)}"`,
    row('..'),
  ]);
  expect(others).toEqual([]);
  expect(batch?.lines).toEqual([2, 6]);
  expect(batch?.end.line).toBe(9);
  expect(batch?.refused).toEqual([
    { line: 3, reason: 'The line is not JSON in UTF-8.' },
    { line: 4, reason: 'entityId is required.' },
    { line: 5, reason: 'Each line must be a JSON object.' },
    { line: 8, reason: 'The line is longer than 204800 bytes.' },
    { line: 9, reason: 'entityId must not be "." or "..", because no URL can contain them.' },
  ]);
});

test('each request lists the names that its rows take or need', async () => {
  const collection = {
    userForeignId: 'u',
    id: '2',
    parentId: '1',
    name: 'Novels',
    createdAt: '2020-01-02T03:04:05Z',
  };
  const [below] = await group([JSON.stringify(collection)], collections);
  expect([...below!.takes, ...below!.needs]).toEqual(['2', '1']);
  const user = { foreignId: '1', email: 'Ada@Example.com', username: 'Ada' };
  const [one, other] = [
    await group([JSON.stringify(user)], users),
    await group(['{"id":"x","foreignId":"1"}'], users),
  ];
  expect([...one[0]!.takes]).toEqual(['1', 'ada@example.com', 'ada']);
  expect(other[0]!.takes.size).toBe(0);
});
