import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Said } from './command.ts';

/**
 * Runs a `kith` command in a thread. The command waits at the first line of its output that contains `at`, until `act` has
 * ended. Meanwhile, a platform in this process goes on.
 */
export async function heldKith(
  words: readonly string[],
  { env, at }: { env: NodeJS.ProcessEnv; at: string },
  act: () => Promise<void>,
): Promise<Said> {
  const gate = new SharedArrayBuffer(4);
  const thread = new Worker(new URL('./held-kith-thread.ts', import.meta.url), {
    workerData: { words, env, at, gate },
    execArgv: [],
  });
  try {
    const [first] = await once(thread, 'message');
    if (first !== 'held') throw new Error(`The command has not printed ${at}: ${(first as Said).stderr}`);
    const ended = once(thread, 'message');
    await act();
    const held = new Int32Array(gate);
    Atomics.store(held, 0, 1);
    Atomics.notify(held, 0);
    return (await ended)[0] as Said;
  } finally {
    await thread.terminate();
  }
}
