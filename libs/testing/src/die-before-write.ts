import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { StatementSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { Collection } from 'mongodb';

const methods = ['insertOne', 'updateOne', 'updateMany', 'replaceOne', 'deleteOne', 'deleteMany'] as const;

/** Has this process killed just before its store's write of this number, counted from 1, on either engine. */
export function dieBeforeWrite(number: number): void {
  let writes = 0;
  const deadly = <Method extends (...values: never[]) => unknown>(original: Method) =>
    function (this: unknown, ...values: Parameters<Method>) {
      writes += 1;
      if (writes === number) process.kill(process.pid, 'SIGKILL');
      return original.apply(this, values);
    };
  for (const method of methods) {
    Object.assign(Collection.prototype, { [method]: deadly(Collection.prototype[method] as never) });
  }
  Object.assign(StatementSync.prototype, { run: deadly(StatementSync.prototype.run) });
}

/** Lets a script work in a process of its own until it is done or dies, and tells whether it said `acknowledged`. */
export async function runUntilDeath(
  script: URL,
  work: unknown,
): Promise<{ killed: boolean; acknowledged: boolean }> {
  const child = spawn(process.execPath, [script.pathname, JSON.stringify(work)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said = text(child.stdout);
  const [code, signal] = await once(child, 'close');
  if (code) throw new Error(`The child ended with ${code}.`);
  return { killed: signal === 'SIGKILL', acknowledged: (await said) === 'acknowledged' };
}
