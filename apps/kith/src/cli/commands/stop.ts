import { setTimeout as wait } from 'node:timers/promises';
import { isProcessAlive } from '@kith/base/config';
import { runningIn } from '../../forms/running.ts';
import { type Command, Failure, notRunning } from '../command.ts';
import { folderConfig, folderOf } from '../data-folder.ts';

const everyMs = 50;
/**
 * How long to wait until the installation has ended, in ms. The time begins when the installation has drained. A healthy
 * installation needs less time. The gateway, the services and the engines end one after the other, within 100 s in total.
 */
const patienceMs = 120_000;

/** Stops the installation that runs on the data folder. Requests in flight are answered first. */
export const stopCommand: Command = {
  name: 'stop',
  summary: 'stop the platform that runs on the data folder',
  text: `Ends the platform that was started on the data folder of the current folder, and waits until it has ended. Requests in flight
are answered first. Exit code 3 means that nothing was running.`,
  reads: folderConfig,
  options: {},
  async run(_, { env }) {
    const folder = folderOf(env);
    const running = runningIn(folder);
    if (!running) throw notRunning(folder);
    const { pid, drainMs = 0 } = running;
    await end(pid, drainMs + patienceMs);
    return { value: { dataFolder: folder, pid }, text: `Kith on the data folder ${folder} has ended.\n` };
  },
};

async function end(pid: number, withinMs: number): Promise<void> {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ESRCH means that the process has ended in the meantime.
    if (code === 'ESRCH') return;
    throw new Failure('failed', `Process ${pid} cannot be stopped (${code}).`);
  }
  for (const until = Date.now() + withinMs; isProcessAlive(pid); await wait(everyMs)) {
    if (Date.now() > until)
      throw new Failure('failed', `Process ${pid} has not ended within ${withinMs / 1000} s.`);
  }
}
