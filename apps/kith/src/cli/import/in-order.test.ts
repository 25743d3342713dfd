import type { ImportResult } from '@kith/contracts';
import { waitFor } from '@kith/testing';
import { expect, test } from 'vitest';
import type { Batch } from './batches.ts';
import { InOrder } from './in-order.ts';

const result: ImportResult = { imported: 1, unchanged: 0, rejected: [] };

const batch = (line: number, takes: string[] = [], needs: string[] = []): Batch => ({
  ...{ rows: ['{}'], lines: [line], refused: [] },
  end: { offset: line, line },
  ...{ takes: new Set(takes), needs: new Set(needs) },
});

/** A platform that answers a request only when the test tells it to. */
function platform() {
  const waiting = new Map<number, PromiseWithResolvers<ImportResult>>();
  const sent: number[] = [];
  const settled: number[] = [];
  const aborted: number[] = [];
  const inOrder = new InOrder({
    atOnce: () => 4,
    send({ end }, signal) {
      sent.push(end.line);
      signal.addEventListener('abort', () => aborted.push(end.line));
      waiting.set(end.line, Promise.withResolvers());
      return waiting.get(end.line)!.promise;
    },
    async settle({ end }) {
      settled.push(end.line);
    },
  });
  const addAll = async (batches: readonly Batch[]) => {
    for (const one of batches) await inOrder.add(one);
    await inOrder.end();
  };
  return { waiting, sent, settled, aborted, addAll };
}

test('four batches are sent at the same time, and are settled in the order of the file without a gap', async () => {
  const { waiting, sent, settled, addAll } = platform();
  const done = addAll([1, 2, 3, 4, 5, 6].map((line) => batch(line)));
  await waitFor(() => sent.length === 4);
  for (const line of [4, 3, 2]) waiting.get(line)!.resolve(result);
  await new Promise(setImmediate);
  expect([sent, settled]).toEqual([[1, 2, 3, 4], []]);
  waiting.get(1)!.resolve(result);
  await waitFor(() => sent.length === 6);
  expect(settled).toEqual([1, 2, 3, 4]);
  for (const line of [6, 5]) waiting.get(line)!.resolve(result);
  await done;
  expect(settled).toEqual([1, 2, 3, 4, 5, 6]);
});

test('a batch that takes or needs a name waits for an earlier batch that takes this name', async () => {
  const { waiting, sent, addAll } = platform();
  const done = addAll([
    batch(1, ['parent']),
    batch(2, ['other'], ['elsewhere']),
    batch(3, ['child'], ['parent']),
  ]);
  await waitFor(() => sent.length === 2);
  await new Promise(setImmediate);
  expect(sent).toEqual([1, 2]);
  waiting.get(1)!.resolve(result);
  await waitFor(() => sent.length === 3);
  for (const line of [2, 3]) waiting.get(line)!.resolve(result);
  await done;
  const again = platform();
  const both = again.addAll([batch(1, ['same']), batch(2, ['same'])]);
  await waitFor(() => again.sent.length === 1);
  await new Promise(setImmediate);
  expect(again.sent).toEqual([1]);
  again.waiting.get(1)!.resolve(result);
  await waitFor(() => again.sent.length === 2);
  again.waiting.get(2)!.resolve(result);
  await both;
});

test('after a failed batch, no later batch is settled, and requests under way are aborted', async () => {
  const { waiting, sent, settled, aborted, addAll } = platform();
  const done = addAll([1, 2, 3].map((line) => batch(line)));
  await waitFor(() => sent.length === 3);
  waiting.get(3)!.resolve(result);
  waiting.get(1)!.resolve(result);
  waiting.get(2)!.reject(new Error('refused'));
  await expect(done).rejects.toThrow('refused');
  expect(settled).toEqual([1]);
  await waitFor(() => aborted.length > 0);
});
