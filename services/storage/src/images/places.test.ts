import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Places } from './places.ts';

it('rejects when the signal is aborted, and keeps the place occupied until the work ends', async () => {
  const places = new Places(1);
  const work = Promise.withResolvers<void>();
  const gone = new AbortController();
  const first = places.run(gone.signal, () => work.promise);
  const begun: string[] = [];
  const { signal } = new AbortController();
  const second = places.run(signal, async () => void begun.push('second'));
  const third = places.run(gone.signal, async () => void begun.push('third'));
  await nextTurn();
  gone.abort(new Error('Gone.'));
  await expect(first).rejects.toThrow('Gone.');
  await expect(third).rejects.toThrow('Gone.');
  expect(begun).toEqual([]);
  work.resolve();
  await second;
  expect(begun).toEqual(['second']);
});
