import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '@kith/engines';
import { nodeFlags } from '@kith/platform';
import { waitFor } from '@kith/testing';
import { SqliteLog } from '../check/sqlite-log.ts';
import { isReady } from './is-ready.ts';
import type { Place } from './place.ts';

const run = promisify(execFile);
const kith = fileURLToPath(new URL('../../../apps/kith/src/cli/main.ts', import.meta.url));

/** The embedded form, as `npm start` runs it. Whenever the process ends, it is started again. */
export interface Embedded extends Place {
  /** The folder of the platform's files. */
  folder: string;
  /** All output of the process so far. */
  said(): Promise<string>;
  /** Sends SIGKILL. The process is started again. */
  kill(): Promise<void>;
  /** Sends SIGTERM. The process is started again. */
  restart(): Promise<void>;
  /** Sends SIGKILL. The process is started again once `work` is done. */
  killFor(work: () => Promise<void>): Promise<void>;
}

export async function startEmbeddedPlace(options: {
  /** If set, the folder is on a separate disk of this size, in MiB. Only root can mount this disk. */
  diskMegabytes?: number;
  progress: (line: string) => void;
}): Promise<Embedded> {
  const { diskMegabytes, progress } = options;
  await using ends = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'kith-faults-embedded-'));
  ends.defer(() => rm(folder, { recursive: true, force: true }));
  const disk = join(folder, 'disk');
  await mkdir(disk);
  if (diskMegabytes) {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${diskMegabytes}m`, 'tmpfs', disk]);
    ends.defer(async () => void (await run('umount', [disk])));
  }
  const operatorToken = 'operator-of-the-faults';
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const log = openSync(join(folder, 'log'), 'a');
  const env = {
    PATH: process.env.PATH,
    NODE_ENV: 'development',
    RATE_LIMIT_SCALE: '100000',
    KITH_DATA: join(disk, 'data'),
    OPERATOR_TOKEN: operatorToken,
    PORT: String(port),
    INTERNAL_PORT: String(await freePort()),
  };
  let child: ChildProcess | undefined;
  let isWanted = true;
  /** The work to do before the process is started again. */
  let beforeStart: (() => Promise<void>) | undefined;
  const start = () => {
    const one = spawn(process.execPath, [...nodeFlags, kith, 'start'], { env, stdio: ['ignore', log, log] });
    child = one;
    one.once('exit', async () => {
      await sleep(500);
      await beforeStart?.();
      if (isWanted) start();
    });
  };
  const readyUrl = `http://127.0.0.1:${env.INTERNAL_PORT}/readyz`;
  const allReady = async (timeoutMs: number) => {
    const from = performance.now();
    await waitFor(() => isReady(readyUrl), { timeoutMs, what: 'the platform to be ready' });
    return performance.now() - from;
  };
  const end = async (signal: NodeJS.Signals) => {
    const one = child;
    if (!one || one.exitCode !== null) return;
    one.kill(signal);
    await once(one, 'exit');
  };
  progress('Starting the embedded form');
  start();
  ends.defer(async () => {
    isWanted = false;
    await end('SIGTERM');
  });
  await allReady(60_000);
  const running = ends.move();
  return {
    url,
    operatorToken,
    folder: env.KITH_DATA,
    log: new SqliteLog(join(env.KITH_DATA, 'events.sqlite')),
    allReady,
    said: () => readFile(join(folder, 'log'), 'utf8'),
    kill: () => end('SIGKILL'),
    restart: () => end('SIGTERM'),
    async killFor(work) {
      const done = Promise.withResolvers<void>();
      beforeStart = () => done.promise;
      await end('SIGKILL');
      try {
        await work();
      } finally {
        beforeStart = undefined;
        done.resolve();
      }
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
