import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import { flushCompileCache, syncBuiltinESMExports } from 'node:module';
import { StatementSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { Collection } from 'mongodb';
import { compileCache } from './compile-cache.ts';

// `insertMany` is not listed, because it calls `bulkWrite`.
const single = ['insertOne', 'updateOne', 'updateMany', 'replaceOne', 'deleteOne', 'deleteMany'] as const;
const methods = [...single, 'bulkWrite'] as const;

/**
 * Counts the writes of this process's store, from 1, and kills the process just before the write with the given number. The
 * function works on both engines. With `bytes`, each step of storing or removing bytes in a folder or in S3 also counts as a
 * write. In GridFS such a step is a write anyway.
 */
export function dieBeforeWrite(number: number, { bytes = false }: { bytes?: boolean } = {}): void {
  // A killed process does not save the code that it has compiled. So this line saves the code now, and the next process need
  // not compile it again.
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

/** How a process ended: whether it was killed, and whether it printed `acknowledged`. */
export interface Death {
  killed: boolean;
  acknowledged: boolean;
}

/** Runs a script in a process of its own. Resolves with how the process ended. */
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
 * Makes attempts until an attempt survives all its writes. The first attempt dies before its first write, the second attempt
 * before its second write, and so on. Resolves with the ends of all attempts. Attempts run in pairs, two at the same time. So
 * the attempts must not write to the same place. The number of writes may differ between attempts, because bytes come in chunks
 * of any size. So the function ends only when the second attempt of a pair survives. If only the first attempt survives, the
 * function goes on.
 */
export async function dieBeforeEachWrite(attempt: (number: number) => Promise<Death>): Promise<Death[]> {
  const deaths: Death[] = [];
  do {
    const number = deaths.length + 1;
    const attempts = [attempt(number), attempt(number + 1)];
    // If one attempt fails, this line still waits for the other attempt, because the caller then removes the stores of both.
    await Promise.allSettled(attempts);
    deaths.push(...(await Promise.all(attempts)));
  } while (deaths.at(-1)?.killed);
  return deaths;
}
