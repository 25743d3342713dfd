import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import { flushCompileCache, syncBuiltinESMExports } from 'node:module';
import { StatementSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { Collection } from 'mongodb';
import { compileCache } from './compile-cache.ts';

// `insertMany` is not listed: it calls `bulkWrite`.
const single = ['insertOne', 'updateOne', 'updateMany', 'replaceOne', 'deleteOne', 'deleteMany'] as const;
const methods = [...single, 'bulkWrite'] as const;

/**
 * Kills this process just before the write of its store that has this number, counted from 1, on either engine. With `bytes`, each
 * step of storing and removing bytes in a folder or in S3 counts as a write, too; in GridFS such a step is a write anyway.
 */
export function dieBeforeWrite(number: number, { bytes = false }: { bytes?: boolean } = {}): void {
  // Saved now, as a killed process does not save the code that it has compiled, and the next process would compile it again.
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

/** How a process ended: whether it was killed, and whether it said `acknowledged`. */
export interface Death {
  killed: boolean;
  acknowledged: boolean;
}

/** Runs a script in a process of its own until it is done or killed, and resolves with how it ended. */
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
 * Makes an attempt that dies before its first write, one that dies before its second, and so on, two at a time, until one survives
 * all of its writes. Resolves with how they ended. Attempts must not share what they write. It ends once the second attempt of a
 * pair survives: the number of writes may differ between attempts, as bytes come in chunks of any size.
 */
export async function dieBeforeEachWrite(attempt: (number: number) => Promise<Death>): Promise<Death[]> {
  const deaths: Death[] = [];
  do {
    const number = deaths.length + 1;
    const attempts = [attempt(number), attempt(number + 1)];
    // If one attempt fails, this still waits for the other, whose store is removed afterwards.
    await Promise.allSettled(attempts);
    deaths.push(...(await Promise.all(attempts)));
  } while (deaths.at(-1)?.killed);
  return deaths;
}
