import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Turns } from './turns.ts';

test('runs work that shares a key in order, also after a failure, and other work meanwhile', async () => {
  const turns = new Turns();
  const steps: string[] = [];
  const work =
    (name: string, fails = false) =>
    async () => {
      steps.push(`${name} begins`);
      await nextTurn();
      steps.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    };
  const outcomes = await Promise.allSettled([
    turns.run(['x', 'y'], work('1', true)),
    turns.run(['y', 'x'], work('2')),
    turns.run(['z'], work('3')),
    turns.run(['x'], work('4')),
  ]);
  expect(
    outcomes.map((one) => (one.status === 'fulfilled' ? one.value : `${one.reason.message} fails`)),
  ).toEqual(['1 fails', '2', '3', '4']);
  const sharing = steps.filter((step) => !step.startsWith('3'));
  expect(sharing).toEqual(['1 begins', '1 ends', '2 begins', '2 ends', '4 begins', '4 ends']);
  expect(steps.indexOf('3 begins')).toBeLessThan(steps.indexOf('1 ends'));
  expect(await turns.run(['x'], work('5'))).toBe('5');
});

test('work waits for all of its keys, not only for the first', async () => {
  const turns = new Turns();
  const steps: string[] = [];
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const earlier = turns.run(['second'], async () => {
    await gate;
    steps.push('earlier');
  });
  const later = turns.run(['first', 'second'], async () => void steps.push('later'));
  await nextTurn();
  open();
  await Promise.all([earlier, later]);
  expect(steps).toEqual(['earlier', 'later']);
});
