import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

/** What a command did. */
export interface Ran<T> {
  /** The result that the command printed as JSON. */
  value: T;
  seconds: number;
  /** The most memory that the command used (resident set), in MiB. */
  peakMiB: number;
}

/** Runs `kith … --json` without showing its progress. Fails if the command fails. */
export async function runKith<T>(words: readonly string[], env: NodeJS.ProcessEnv): Promise<Ran<T>> {
  const begun = performance.now();
  const child = spawn(process.execPath, ['apps/kith/src/cli/main.ts', ...words, '--json'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  let peakMiB = 0;
  // The system keeps the peak until the process ends, so only growth in the last tenth of a second is missed.
  const watch = setInterval(() => {
    peakMiB = peakOf(child.pid) ?? peakMiB;
  }, 100);
  const [code] = await once(child, 'close');
  clearInterval(watch);
  if (code !== 0) throw new Error(`kith ${words[0]} ended with ${code}.`);
  const last = text.trimEnd().split('\n').at(-1) ?? '';
  return { value: JSON.parse(last), seconds: (performance.now() - begun) / 1000, peakMiB };
}

/** The most memory that a process has used, in MiB. `undefined` if the process has ended, or on a system other than Linux. */
function peakOf(pid: number | undefined): number | undefined {
  try {
    const [, kiB] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kiB ? Number(kiB) / 1024 : undefined;
  } catch {
    return undefined;
  }
}
