import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Turns } from './turns.ts';

test('work with a common key runs in order, even after a failure, and does not delay other work', async () => {
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

test('work whose turn does not come in time never runs, and the work behind it still waits for the work before it', async () => {
  const turns = new Turns();
  const steps: string[] = [];
  const gate = Promise.withResolvers<void>();
  const work = (name: string) => async () => void steps.push(name);
  const first = turns.run(['x'], async () => {
    await gate.promise;
    steps.push('first');
  });
  const late = turns.run(['x'], work('late'), { until: Date.now() + 20 });
  const gone = new AbortController();
  const left = turns.run(['x'], work('left'), { signal: gone.signal });
  const last = turns.run(['x'], work('last'), {
    until: Date.now() + 60_000,
    signal: new AbortController().signal,
  });
  await expect(late).rejects.toMatchObject({ code: 'gateway/unavailable' });
  gone.abort(new Error('The client has gone.'));
  await expect(left).rejects.toThrow('The client has gone.');
  await nextTurn();
  expect(steps).toEqual([]);
  gate.resolve();
  await Promise.all([first, last]);
  expect(steps).toEqual(['first', 'last']);
  await expect(turns.run(['x'], work('after'), { signal: gone.signal })).rejects.toThrow('gone');
});
