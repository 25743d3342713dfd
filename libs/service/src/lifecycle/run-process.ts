import type { Logger } from 'pino';
import { StartError } from '../errors.ts';
import { createLogger } from '../telemetry/log.ts';
import { startTracing, stopTracing, tracing } from '../telemetry/tracing.ts';

/** What a process is for, once it runs. `ready` is told to the launcher that started it, if there is one. */
export interface RunningProcess {
  stop(): Promise<void>;
  log?: Logger;
  ready?: { internalPort: number; url?: string };
}

/**
 * Runs a process: starts what it is for, then waits for SIGINT or SIGTERM and stops it in order; a signal that comes
 * while it starts is heeded once it has. A `StartError` becomes one sentence on stderr and exit code 1. For entry
 * points alone.
 */
export async function runProcess(
  name: string,
  start: (env: NodeJS.ProcessEnv) => Promise<RunningProcess>,
): Promise<void> {
  const asked = askedToEnd();
  try {
    await startTracing(name, process.env);
    const running = await start(process.env);
    const log = running.log ?? createLogger({ name, level: 'info' });
    tracing()?.logTo(log);
    // Left to itself Node ends the process in the middle of other requests; logged and ended in order instead.
    process.on('uncaughtException', (error) => end(running, log, 1, error));
    process.on('unhandledRejection', (error) => end(running, log, 1, error));
    if (process.channel) process.send?.({ type: 'ready', ...running.ready });
    void asked.then(() => end(running, log, 0));
  } catch (error) {
    const sentence = error instanceof StartError ? error.message : ((error as Error).stack ?? String(error));
    process.stderr.write(`${name}: ${sentence}\n`);
    process.exit(1);
  }
}

/** Resolves when the process is to end: by a signal, or because the launcher that started it is gone. */
function askedToEnd(): Promise<void> {
  return new Promise((resolve) => {
    process.on('SIGINT', () => resolve());
    process.on('SIGTERM', () => resolve());
    if (!process.channel) return;
    process.once('disconnect', () => resolve());
    process.channel.unref();
  });
}

let ending = false;

function end(running: RunningProcess, log: Logger, code: number, error?: unknown): void {
  if (error) log.fatal({ err: error }, 'unexpected failure');
  if (ending) return;
  ending = true;
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
