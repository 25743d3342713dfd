import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { runCommandLine } from '@kith/platform/cli';
import { compileCache, type TestPlatform } from '@kith/testing';

/** The file that runs `kith` with the current Node. */
export const main = fileURLToPath(new URL('../../apps/kith/src/cli/main.ts', import.meta.url));

/** What a command has printed, and its exit code. The code is null if the command was killed. */
export interface Said {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A running `kith`. */
export interface Running {
  pid: number | undefined;
  ended: Promise<Said>;
  /** Sends a signal, SIGKILL by default. */
  kill(signal?: NodeJS.Signals): void;
  /** Stops reading what the process prints, as `head` does after its last line. */
  stopReading(...names: ('stdout' | 'stderr')[]): void;
}

/**
 * Starts `kith` as a process of its own. Calls `hear` each time the process prints something on stderr, with everything that it
 * has printed there so far.
 */
export function startKith(
  words: readonly string[],
  env: NodeJS.ProcessEnv,
  hear: (stderr: string) => void = () => undefined,
): Running {
  const child = spawn(process.execPath, [main, ...words], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCache(), NODE_ENV: 'test', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said: Said = { code: null, stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    said.stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    said.stderr += chunk.toString();
    hear(said.stderr);
  });
  return {
    pid: child.pid,
    ended: new Promise((resolve) => child.once('close', (code) => resolve({ ...said, code }))),
    kill: (signal = 'SIGKILL') => void child.kill(signal),
    stopReading(...names) {
      for (const name of names) child[name].destroy();
    },
  };
}

/** Runs a `kith` command in this process, because a new process would start more slowly. */
export async function runKith(words: readonly string[], env: NodeJS.ProcessEnv): Promise<Said> {
  const said: Said = { code: null, stdout: '', stderr: '' };
  said.code = await runCommandLine(words, {
    env,
    stdout: { write: (text) => (said.stdout += text) },
    stderr: { write: (text) => (said.stderr += text) },
  });
  return said;
}

/**
 * The result of a command that reports progress (`isLong`) and ran with `--json`. `progress` has the lines of progress as the
 * command prints them without `--json`.
 */
export function longResult<Result = object>({ stdout }: Said): Result & { progress: string } {
  const events = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { event: string; message?: string });
  const progress = events.slice(0, -1).map(({ message }) => `${message}\n`);
  return { ...(events.at(-1) as Result), progress: progress.join('') };
}

/** Runs `kith` to its end, or kills it as soon as its stderr contains `killAt`. */
export function kith(words: readonly string[], env: NodeJS.ProcessEnv, killAt?: string): Promise<Said> {
  const running = startKith(words, env, (stderr) => {
    if (killAt !== undefined && stderr.includes(killAt)) running.kill();
  });
  return running.ended;
}

/** The environment in which `kith` reaches a platform. */
export function accessOf({
  url,
  operatorToken,
}: Pick<TestPlatform, 'url' | 'operatorToken'>): NodeJS.ProcessEnv {
  return { KITH_URL: url, OPERATOR_TOKEN: operatorToken };
}
