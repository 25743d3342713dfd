import { expect, test } from 'vitest';
import { InFlight } from './in-flight.ts';

test('idle() resolves if no work runs', async () => {
  const inFlight = new InFlight();
  await inFlight.idle();
  expect(inFlight.size).toBe(0);
});

test('idle() waits for all work, including work that starts while it waits', async () => {
  const inFlight = new InFlight();
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  let idle = false;
  inFlight.track(
    first.promise.then(() => {
      inFlight.track(second.promise);
    }),
  );
  const waiting = inFlight.idle().then(() => {
    idle = true;
  });
  first.resolve();
  await new Promise(setImmediate);
  expect(idle).toBe(false);
  expect(inFlight.size).toBe(1);
  second.resolve();
  await waiting;
  expect(inFlight.size).toBe(0);
});

test('below() waits until fewer pieces of work run than the given number', async () => {
  const inFlight = new InFlight();
  await inFlight.below(1);
  const works = [0, 1, 2].map(() => Promise.withResolvers<void>());
  for (const { promise } of works) inFlight.track(promise);
  let isBelow = false;
  const waiting = inFlight.below(2).then(() => {
    isBelow = true;
  });
  works[2]?.resolve();
  await new Promise(setImmediate);
  expect([isBelow, inFlight.size]).toEqual([false, 2]);
  works[0]?.resolve();
  await waiting;
  expect(inFlight.size).toBe(1);
});
