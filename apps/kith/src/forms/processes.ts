import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, closeSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { noteSlow, StartError } from '@kith/base';
import type { ProcessName } from '../services.ts';
import { nodeFlags } from './node-flags.ts';
import { rotateLog } from './rotate-log.ts';

/** The message that a process sends to its parent as soon as it serves. */
export interface ReadyMessage {
  type: 'ready';
  internalPort: number;
  url?: string;
  /** The address where the process receives and sends bytes. */
  httpUrl?: string;
  /** The address of the operators' endpoints, if they have a port of their own. */
  adminUrl?: string;
}

/** One service as a process of its own. */
export interface ServiceProcess {
  readonly name: ProcessName;
  readonly pid: number;
  readonly ready: ReadyMessage;
  /** Resolves with the exit code or signal when the process has ended. */
  readonly exited: Promise<number | NodeJS.Signals>;
  /** Sends SIGTERM, then waits for the end. The process drains first. */
  stop(): Promise<void>;
  /** Sends SIGINT, then waits for the end. The process does not drain, but it stops cleanly. */
  interrupt(): Promise<void>;
  /** Sends SIGKILL, then waits for the end. */
  kill(): Promise<void>;
}

const { resolve } = createRequire(import.meta.url);
const rotateEveryMs = 10_000;

/**
 * Starts a service's `main.ts` as a process, and waits until the process serves. Its log and what it
 * writes to stderr go to `logFile`, which is rotated when it is large. If the process ends before it is ready, the `StartError` holds the process's last lines on stderr. `main`
 * can name another file to run, for example of another version.
 *
 * There is no time limit, because a start may take very long, for example while indexes are made in a large database, or while
 * the machine is overloaded. If the process were killed, the next attempt would begin the same work again. If the start is not
 * done after `slowMs` (30 s), `progress` gets a line that says so. When `signal` is aborted before the process is ready, the
 * process is killed, and the start rejects with the signal's reason.
 */
export async function startServiceProcess(
  name: ProcessName,
  options: {
    env: NodeJS.ProcessEnv;
    logFile: string;
    main?: string;
    progress?: ((line: string) => void) | undefined;
    signal?: AbortSignal;
    slowMs?: number;
  },
): Promise<ServiceProcess> {
  options.signal?.throwIfAborted();
  const child = spawnLogged(options.main ?? mainOf(name), options);
  let lastWords = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    lastWords = (lastWords + chunk.toString()).slice(-2_000);
    append(options.logFile, chunk);
  });
  const exited = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 1));
  });
  const rotating = setInterval(() => rotateLog(options.logFile), rotateEveryMs).unref();
  void exited.then(() => clearInterval(rotating));
  const wait = { exited, lastWords: () => lastWords, signal: options.signal };
  const ready = await noteSlow(
    readyMessage(name, child, wait),
    () => options.progress?.(`${name} is still starting; its log is ${options.logFile}`),
    options.slowMs,
  );
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await exited;
  };
  return {
    name,
    pid: child.pid ?? 0,
    ready,
    exited,
    stop: () => end('SIGTERM'),
    interrupt: () => end('SIGINT'),
    kill: () => end('SIGKILL'),
  };
}

/**
 * Starts a process that writes its log to a file. The process gets a descriptor of its own, so the descriptor here is closed
 * immediately.
 */
function spawnLogged(
  main: string,
  { env, logFile }: { env: NodeJS.ProcessEnv; logFile: string },
): ChildProcess {
  const log = openSync(logFile, 'a', 0o600);
  try {
    return spawn(process.execPath, [...nodeFlags, main], { env, stdio: ['ignore', log, 'pipe', 'ipc'] });
  } finally {
    closeSync(log);
  }
}

/** Appends to a log. If that fails, for example because the disk is full, the text is lost. A log must not stop the platform. */
function append(logFile: string, text: Buffer): void {
  try {
    appendFileSync(logFile, text);
  } catch {}
}

/**
 * The file `main` of a service is in the same folder as its file `index`. Both files are TypeScript in the repository, and
 * JavaScript in an installed package.
 */
function mainOf(name: ProcessName): string {
  const index = resolve(`@kith/${name}`);
  return join(dirname(index), `main${extname(index)}`);
}

async function readyMessage(
  name: string,
  child: ChildProcess,
  wait: { exited: Promise<unknown>; lastWords: () => string; signal: AbortSignal | undefined },
): Promise<ReadyMessage> {
  const { exited, lastWords, signal } = wait;
  const message = new Promise<ReadyMessage>((resolve) => {
    child.on('message', (content) => {
      if ((content as ReadyMessage).type === 'ready') resolve(content as ReadyMessage);
    });
  });
  const gone = exited.then(() => {
    throw new StartError(lastWords().trim() || `${name} ended before it was ready.`);
  });
  const { promise: unwanted, reject } = Promise.withResolvers<never>();
  const giveUp = () => {
    child.kill('SIGKILL');
    reject(signal?.reason);
  };
  signal?.addEventListener('abort', giveUp);
  try {
    return await Promise.race([message, gone, unwanted]);
  } finally {
    signal?.removeEventListener('abort', giveUp);
    gone.catch(() => undefined);
  }
}
