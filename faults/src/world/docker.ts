import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs Docker's command line; gives what it printed, and throws what it complained of. */
export async function docker(...words: readonly string[]): Promise<string> {
  return (await run('docker', words)).stdout.trim();
}
