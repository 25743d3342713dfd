import { createLogger, StartError, startTracing, stopTracing, tracing } from '@kith/base';
import type { Logger } from 'pino';

/** What a process is for, once it runs. `ready` is told to the launcher that started it, if there is one. */
export interface RunningProcess {
  stop(): Promise<void>;
  /** What comes before that on a SIGTERM: serving on while balancers learn that it is to end. */
  drain?(): Promise<void>;
  log?: Logger;
  /** Resolves when it cannot go on: the process then ends in order, with exit code 1. */
  failed?: Promise<Error>;
  ready?: { internalPort: number; url?: string; httpUrl?: string; adminUrl?: string };
}

/** As {@link startProcess}; a `StartError` becomes one sentence on stderr and exit code 1. For entry points alone. */
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
 * Makes this process one that runs: starts what it is for, then waits for SIGINT or SIGTERM and stops it in order, on SIGTERM after
 * it has drained; a signal that comes while it starts is heeded once it has. Resolves when it has started, and rejects as `start`
 * does.
 * @param options.stopMs How long stopping may take before the process ends all the same. What is in flight has 10 s, and so
 * have relays and sweeps.
 */
export async function startProcess(
  name: string,
  start: (env: NodeJS.ProcessEnv) => Promise<RunningProcess>,
  { stopMs = 25_000 }: { stopMs?: number } = {},
): Promise<void> {
  const { asked, atOnce } = askedToEnd();
  await startTracing(name, process.env);
  const running = await start(process.env);
  const log = running.log ?? createLogger({ name, level: 'info' });
  tracing()?.logTo(log);
  // Left to itself Node ends the process in the middle of other requests; logged and ended in order instead.
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
 * Tells when the process is to end: `asked` by a signal, or because the launcher that started it is gone; `atOnce` by all
 * of these but SIGTERM. A second SIGTERM changes nothing: launchers and process groups hand on the same one twice.
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
  // What hangs must not keep a process that serves nothing any more: whoever watches it starts another.
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
        log.error({ err: failure }, 'did not stop in order');
        process.exit(1);
      },
    );
}
