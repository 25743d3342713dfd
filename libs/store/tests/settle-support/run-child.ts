import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ChildWork } from './child.ts';

export interface ChildEnd {
  killed: boolean;
  /** The changes that the child has acknowledged. */
  acknowledged: { lamp: string; seq: number }[];
}

/** Runs a child process to its end. Rejects if the child fails. A child that kills itself with SIGKILL has not failed. */
export async function runChild(work: ChildWork): Promise<ChildEnd> {
  const script = new URL('./child.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, JSON.stringify(work)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  const [code, signal] = await once(child, 'close');
  if (code !== 0 && signal !== 'SIGKILL') throw new Error(`child ended with ${code ?? signal}: ${err}`);
  const lines = out.split('\n').filter((line) => line !== '');
  const acknowledged = lines.map((line) => {
    const [lamp = '', seq] = line.split(' ');
    return { lamp, seq: Number(seq) };
  });
  return { killed: signal === 'SIGKILL', acknowledged };
}
