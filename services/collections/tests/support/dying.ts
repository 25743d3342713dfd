import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { DyingWork } from './dying-child.ts';

/** Lets a process of its own do something until it is done or dies. */
export async function runDying(work: DyingWork): Promise<{ killed: boolean; acknowledged: boolean }> {
  const script = new URL('./dying-child.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, JSON.stringify(work)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said = text(child.stdout);
  const [code, signal] = await once(child, 'close');
  if (code) throw new Error(`The child ended with ${code}.`);
  return { killed: signal === 'SIGKILL', acknowledged: (await said) === 'acknowledged' };
}
