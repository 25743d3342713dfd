// Starts at most 0 platforms and 1 process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createLogger } from '@kith/base';
import { Sweeper, startService } from '@kith/service';
import { createRuntime } from '@kith/testing';
import { expect, test } from 'vitest';

const log = createLogger({ name: 'test', level: 'silent' });

test('a service that stops ends its background, and then its store', async () => {
  await using runtime = await createRuntime('embedded');
  const order: string[] = [];
  const background = ['relay', 'sweep'].map((name) => ({ stop: async () => void order.push(name) }));
  const close = async () => void order.push('store');
  const service = await startService(
    runtime,
    { name: 'test', operations: {} },
    { app: undefined, background, close },
  );
  await Promise.all([service.stop(), service.stop()]);
  expect(order).toEqual(['relay', 'sweep', 'store']);
  expect(await service.notReady()).toContain('stopping');
});

test('a sweeper that stops waits for its work and does no more', async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const order: string[] = [];
  const work = async () => {
    begin();
    await gate;
    order.push('worked');
  };
  const sweeper = new Sweeper(work, { everyMs: 1, log });
  await begun;
  const stopped = sweeper.stop().then(() => order.push('stopped'));
  // Long enough for a stop that waits for nothing.
  await new Promise(setImmediate);
  open();
  await stopped;
  expect(order).toEqual(['worked', 'stopped']);
});

test('a process whose stop hangs ends all the same', async () => {
  const path = fileURLToPath(new URL('lifecycle-support/hangs.ts', import.meta.url));
  const child = spawn(process.execPath, [path], { stdio: 'ignore' });
  expect(await once(child, 'exit')).toEqual([1, null]);
});
