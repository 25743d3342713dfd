import { expect, test } from 'vitest';
import { GatheredWrites } from './gather-writes.ts';

/** Notes what is written, makes each write wait for the gate, and refuses `bad`. */
function recorder() {
  const writes: (string | string[])[] = [];
  let gate = Promise.withResolvers<void>();
  gate.resolve();
  const write = async (what: string | string[]) => {
    writes.push(what);
    await gate.promise;
    if ([what].flat().includes('bad')) throw new Error('refused');
  };
  return {
    writes,
    gathered: new GatheredWrites<string>({ writeOne: write, writeAll: (items) => write([...items]) }),
    shut: () => {
      gate = Promise.withResolvers();
      return gate.resolve;
    },
  };
}

test('items that arrive at the same time are written in one write, and a single item is written alone', async () => {
  const { writes, gathered } = recorder();
  await Promise.all(['a', 'b', 'c'].map((item) => gathered.write(item)));
  await gathered.write('d');
  expect(writes).toEqual([['a', 'b', 'c'], 'd']);
});

test('items that arrive while a write is under way are written together after it', async () => {
  const { writes, gathered, shut } = recorder();
  const open = shut();
  const first = gathered.write('a');
  await expect.poll(() => writes).toEqual(['a']);
  const others = ['b', 'c'].map((item) => gathered.write(item));
  open();
  await Promise.all([first, ...others]);
  expect(writes).toEqual(['a', ['b', 'c']]);
});

test('if a write of several items fails, each item is written alone and gets only its own failure', async () => {
  const { writes, gathered } = recorder();
  const outcomes = await Promise.allSettled(['a', 'bad', 'c'].map((item) => gathered.write(item)));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(writes).toEqual([['a', 'bad', 'c'], 'a', 'bad', 'c']);
  await gathered.write('d');
  expect(writes.at(-1)).toBe('d');
});

test('a write has a bounded number of items', async () => {
  const { writes, gathered } = recorder();
  await Promise.all(Array.from({ length: 450 }, (_, at) => gathered.write(`${at}`)));
  expect(writes.map((one) => one.length)).toEqual([200, 200, 50]);
});
