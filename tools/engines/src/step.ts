import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { StartError } from '@kith/base';
import { type RunOptions, run } from './run.ts';

export type Progress = (line: string) => void;

/** A failure whose message is one sentence for a person. */
export class EnginesError extends StartError {
  override name = 'EnginesError';
}

/** The folder for files that outlive a process, such as logs, the lock and a compiled FerretDB. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  const folder = join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'kith');
  mkdirSync(folder, { recursive: true });
  return folder;
}

export type StepOptions = RunOptions & { progress: Progress; log: string };

/**
 * Runs one long step, and reports when it starts and how long it took.
 * @throws EnginesError that names the log file if the command fails.
 */
export async function step(
  what: string,
  command: readonly [string, ...string[]],
  { progress, log, ...options }: StepOptions,
): Promise<void> {
  const started = performance.now();
  progress(`${what} …`);
  const [program, ...args] = command;
  const { code, stderr, stdout } = await run(program, args, { ...options, log });
  if (code !== 0) {
    throw new EnginesError(
      `${what} failed (${lastLine(stderr) || lastLine(stdout) || `exit code ${code}`}); its log is ${log}`,
    );
  }
  progress(`${what}: done in ${((performance.now() - started) / 1000).toFixed(0)} s`);
}

/** The last line of a command's output that is not blank. */
export function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.trim() ?? '';
}
