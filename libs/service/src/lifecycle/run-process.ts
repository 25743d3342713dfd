import { createLogger, StartError, startTracing, stopTracing, tracing } from '@kith/base';
import type { Logger } from 'pino';

/** What a process runs. If a launcher started the process, `ready` is sent to the launcher. */
export interface RunningProcess {
  stop(): Promise<void>;
  /** Called before `stop` on a SIGTERM. The process keeps serving while load balancers learn that it will end. */
  drain?(): Promise<void>;
  log?: Logger;
  /** Resolves when the process cannot continue. The process then stops in order, with exit code 1. */
  failed?: Promise<Error>;
  ready?: { internalPort: number; url?: string; httpUrl?: string; adminUrl?: string };
}

interface ProcessOptions {
  stopMs?: number | undefined;
  endsWhileStarting?: boolean;
  env?: NodeJS.ProcessEnv;
}

/** How long stopping a process may take by default, in ms. */
export const usualStopMs = 25_000;

/** Like {@link startProcess}, but turns a `StartError` into one sentence on stderr and exit code 1. Only for entry points. */
export async function runProcess(...args: Parameters<typeof startProcess>): Promise<void> {
  try {
    await startProcess(...args);
  } catch (error) {
    const sentence = error instanceof StartError ? error.message : ((error as Error).stack ?? String(error));
    process.stderr.write(`${args[0]}: ${sentence}\n`);
    process.exit(1);
  }
}

/**
 * Calls `start`. Then waits for SIGINT or SIGTERM, and stops the running parts in order. On SIGTERM, it drains them first. If a
 * signal comes during the start, it takes effect after the start. Resolves when the start is done, and rejects if `start`
 * rejects.
 * @param options.stopMs How long stopping may take before the process ends anyway. Draining does not count. Within this time,
 * work in flight takes at most 12 s, sweeps at most 8 s, and the relay at most 4 s.
 * @param options.endsWhileStarting Whether a signal during the start ends the process immediately, with code 0. Use it for
 * starts that may take minutes. Use it only if nothing that `start` makes outlives the process.
 * @param options.env The environment. By default, it is the environment of the process.
 */
export async function startProcess(
  name: string,
  start: (env: NodeJS.ProcessEnv) => Promise<RunningProcess>,
  { stopMs = usualStopMs, endsWhileStarting = false, env = process.env }: ProcessOptions = {},
): Promise<void> {
  const { asked, atOnce } = askedToEnd();
  let isStarting = true;
  if (endsWhileStarting) void asked.then(() => isStarting && process.exit(0));
  await startTracing(name, env);
  const running = await start(env);
  isStarting = false;
  const log = running.log ?? createLogger({ name, level: 'info' });
  tracing()?.logTo(log);
  // By default, Node would end the process immediately after such an error, in the middle of other requests. Instead, the error
  // is logged and the process stops in order.
  const ends = { running, log, stopMs };
  process.on('uncaughtException', (error) => end(ends, 1, error));
  process.on('unhandledRejection', (error) => end(ends, 1, error));
  if (process.channel) process.send?.({ type: 'ready', ...running.ready });
  void running.failed?.then((error) => end(ends, 1, error));
  void asked
    .then(() => Promise.race([running.drain?.(), atOnce]))
    .then(
      () => end(ends, 0),
      (error) => end(ends, 1, error),
    );
}

/**
 * Returns two promises. `asked` resolves on a signal, or when the launcher that started the process has ended. `atOnce`
 * resolves in the same cases, except on SIGTERM. A second SIGTERM changes nothing, because a launcher and a process group may
 * both pass on the same signal.
 */
function askedToEnd(): { asked: Promise<void>; atOnce: Promise<void> } {
  const atOnce = new Promise<void>((resolve) => {
    process.on('SIGINT', () => resolve());
    if (!process.channel) return;
    process.once('disconnect', () => resolve());
    process.channel.unref();
  });
  const terminated = new Promise<void>((resolve) => {
    process.on('SIGTERM', () => resolve());
  });
  return { asked: Promise.race([terminated, atOnce]), atOnce };
}

let ending = false;

interface Ends {
  running: RunningProcess;
  log: Logger;
  stopMs: number;
}

function end({ running, log, stopMs }: Ends, code: number, error?: unknown): void {
  if (error) log.fatal({ err: error }, 'unexpected failure');
  if (ending) return;
  ending = true;
  // If the stop hangs, the process serves nothing and must still end. Its supervisor then starts another process.
  setTimeout(() => {
    log.error('did not stop in time');
    process.exit(1);
  }, stopMs).unref();
  running
    .stop()
    .finally(stopTracing)
    .then(
      () => process.exit(code),
      (failure) => {
        log.error({ err: failure }, 'an error occurred while stopping');
        process.exit(1);
      },
    );
}
