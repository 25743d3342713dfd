import { DeadlinePassed } from '@kith/base';
import { expect, test } from 'vitest';
import { Gate } from './gate.ts';

const later = Date.now() + 60_000;

test('a gate runs work in the order of arrival, and never more at the same time than its limit allows', async () => {
  const gate = new Gate(2);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  let running = 0;
  const all = [0, 1, 2, 3, 4].map((index) =>
    gate.run(later, async () => {
      begun.push(index);
      running += 1;
      expect(running).toBeLessThanOrEqual(2);
      await new Promise<void>((resolve) => ends.push(resolve));
      running -= 1;
      return index;
    }),
  );
  expect(begun).toEqual([0, 1]);
  for (const index of [0, 1, 2, 3, 4]) {
    ends[index]?.();
    expect(await all[index]).toBe(index);
  }
  expect(begun).toEqual([0, 1, 2, 3, 4]);
});

test('a gate does not begin work whose deadline has passed, and runs other work after a failure', async () => {
  const gate = new Gate(1);
  let begun = false;
  const failing = gate.run(later, async () => {
    throw new Error('failed');
  });
  const late = gate.run(Date.now() - 1, async () => {
    begun = true;
  });
  const good = gate.run(Number.NaN, async () => 'done');
  await expect(failing).rejects.toThrow('failed');
  await expect(late).rejects.toThrow(DeadlinePassed);
  expect(begun).toBe(false);
  expect(await good).toBe('done');
});
