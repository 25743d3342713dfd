import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const patienceMs = 60_000;

/**
 * Runs the same command as `npm start` on a data folder, and ends it. Resolves with the time in ms until the command printed what
 * to do next.
 */
export async function embeddedStart(data: string, compiled: string): Promise<number> {
  const began = performance.now();
  const child = spawn(process.execPath, ['apps/kith/bin/kith.mjs', 'start'], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      KITH_DATA: data,
      PORT: '0',
      INTERNAL_PORT: '0',
      NODE_COMPILE_CACHE: compiled,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let output = '';
  const printed = new Promise<number>((resolve) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('Ctrl-C ends it')) resolve(performance.now() - began);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
  });
  const late = setTimeout(() => child.kill('SIGKILL'), patienceMs);
  try {
    return await Promise.race([
      printed,
      exited.then(() => {
        throw new Error(`npm start ended: ${output}`);
      }),
    ]);
  } finally {
    clearTimeout(late);
    child.kill('SIGTERM');
    await exited;
  }
}
