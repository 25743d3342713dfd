import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { LiveGauge } from './live-gauge.ts';

function gauge() {
  const registry = new Registry();
  const made = new LiveGauge({ name: 'held', help: 'Held', labelNames: ['of'], registers: [registry] });
  const lines = async () => (await registry.metrics()).split('\n').filter((line) => line.startsWith('held'));
  return { made, lines };
}

test('a live gauge reads a watched value at each scrape, and stops when the watch ends', async () => {
  const { made, lines } = gauge();
  let value = 1;
  const end = made.watch({ of: 'a' }, () => value);
  expect(await lines()).toEqual(['held{of="a"} 1']);
  value = 2;
  expect(await lines()).toEqual(['held{of="a"} 2']);
  end();
  expect(await lines()).toEqual([]);
});

test('a live gauge reports the largest of the values that are watched under the same labels', async () => {
  const { made, lines } = gauge();
  for (const value of [3, 7, 5]) made.watch({ of: 'a' }, async () => value);
  made.watch({ of: 'b' }, () => 0);
  expect(await lines()).toEqual(['held{of="a"} 7', 'held{of="b"} 0']);
});

test('a live gauge leaves out a value that cannot be read in time, unless the value has a fallback', async () => {
  const { made, lines } = gauge();
  made.watch({ of: 'silent' }, () => new Promise<number>(() => {}));
  made.watch({ of: 'failing' }, () => Promise.reject(new Error('away')));
  made.watch({ of: 'throwing' }, () => {
    throw new Error('away');
  });
  made.watch({ of: 'unknown' }, () => undefined);
  made.watch({ of: 'known' }, () => 1);
  made.watch({ of: 'late' }, () => new Promise<number>(() => {}), 0);
  expect((await lines()).toSorted()).toEqual(['held{of="known"} 1', 'held{of="late"} 0']);
});
