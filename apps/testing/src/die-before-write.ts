import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import { flushCompileCache, syncBuiltinESMExports } from 'node:module';
import { StatementSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { Collection } from 'mongodb';
import { compileCache } from './compile-cache.ts';

// `insertMany` is a `bulkWrite`.
const single = ['insertOne', 'updateOne', 'updateMany', 'replaceOne', 'deleteOne', 'deleteMany'] as const;
const methods = [...single, 'bulkWrite'] as const;

/**
 * Has this process killed just before its store's write of this number, counted from 1, on either engine. With `bytes`, each step
 * of storing and removing bytes in a folder or in S3 counts as a write; in GridFS it is one.
 */
export function dieBeforeWrite(number: number, { bytes = false }: { bytes?: boolean } = {}): void {
  // A process that is killed would not leave to the next one what it has compiled.
  flushCompileCache();
  let writes = 0;
  const deadly = <Method extends (...values: never[]) => unknown>(
    original: Method,
    counts: (...values: Parameters<Method>) => boolean = () => true,
  ) =>
    function (this: unknown, ...values: Parameters<Method>) {
      if (counts(...values)) writes += 1;
      if (writes === number) process.kill(process.pid, 'SIGKILL');
      return original.apply(this, values);
    };
  for (const method of methods) {
    Object.assign(Collection.prototype, { [method]: deadly(Collection.prototype[method] as never) });
  }
  Object.assign(StatementSync.prototype, { run: deadly(StatementSync.prototype.run) });
  if (!bytes) return;
  for (const step of ['write', 'writev', 'fsync'] as const) {
    Object.assign(fs, { [step]: deadly(fs[step] as never) });
  }
  Object.assign(fs, { open: deadly(fs.open as never, (_path, flags) => flags !== 'r') });
  for (const step of ['mkdir', 'rename', 'rm', 'rmdir'] as const) {
    Object.assign(fs.promises, { [step]: deadly(fs.promises[step] as never) });
  }
  const asks = ({ method }: http.RequestOptions) => !['GET', 'HEAD'].includes(method ?? 'GET');
  Object.assign(http, { request: deadly(http.request as never, asks as never) });
  syncBuiltinESMExports();
}

/** How a process ended: killed, or having said `acknowledged`. */
export interface Death {
  killed: boolean;
  acknowledged: boolean;
}

/** Lets a script work in a process of its own until it is done or dies, and tells whether it said `acknowledged`. */
export async function runUntilDeath(script: URL, work: unknown): Promise<Death> {
  const child = spawn(process.execPath, [script.pathname, JSON.stringify(work)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache() },
  });
  const said = text(child.stdout);
  const [code, signal] = await once(child, 'close');
  if (code) throw new Error(`The child ended with ${code}.`);
  if (signal && signal !== 'SIGKILL') throw new Error(`The child was ended by ${signal}.`);
  return { killed: signal === 'SIGKILL', acknowledged: (await said) === 'acknowledged' };
}

/**
 * Makes an attempt that dies before its first write, one before its second, and so on, two at a time, until one lives
 * through all of its writes, and gives how they ended. Attempts must not share what they write. How many writes an attempt
 * makes may differ, as bytes come in chunks of any size: of two, the last has to live.
 */
export async function dieBeforeEachWrite(attempt: (number: number) => Promise<Death>): Promise<Death[]> {
  const deaths: Death[] = [];
  do {
    const number = deaths.length + 1;
    const attempts = [attempt(number), attempt(number + 1)];
    // Where one fails, the other still ends before its store does.
    await Promise.allSettled(attempts);
    deaths.push(...(await Promise.all(attempts)));
  } while (deaths.at(-1)?.killed);
  return deaths;
}
