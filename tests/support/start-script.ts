import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** A running start script, started like `npm start`. */
export interface Started extends AsyncDisposable {
  /** Everything that the script has printed so far. */
  output(): string;
  /** The id of the bootstrap's process, and of its process group. The platform runs in this group, below the bootstrap. */
  pid: number;
  /** Resolves with the exit code. */
  exited: Promise<number>;
  signal(name: NodeJS.Signals): void;
}

interface StartOptions {
  env: NodeJS.ProcessEnv;
  /** The start resolves when the output contains this text, or when the process has ended. */
  until: string;
  words?: readonly string[];
  /** The folder in which the script is started. By default, this is the project's folder. */
  cwd?: string;
  /** The project's folder. By default, this is the folder of this repository. It may also be the folder of a copy. */
  folder?: string;
  /** A program that runs the script, and the arguments of this program. */
  by?: readonly string[];
}

/** Runs a script through the bootstrap. */
export function startScript(script: string, options: StartOptions): Promise<Started> {
  return start(['tools/bootstrap.mjs', script], options);
}

/** Runs `kith start`, as `npm start` does. */
export function startByKith(options: StartOptions): Promise<Started> {
  return start(['apps/kith/bin/kith.mjs', 'start'], options);
}

async function start(
  [program = '', ...own]: readonly string[],
  { env, until, words = [], folder = root, cwd = folder, by = [] }: StartOptions,
): Promise<Started> {
  const [command = '', ...more] = [...by, process.execPath, join(folder, program), ...own, ...words];
  const child = spawn(command, more, {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // The process gets a group of its own, as from a shell, because Ctrl-C reaches the whole group.
    detached: true,
  });
  let output = '';
  const exited = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
  await new Promise<void>((resolve) => {
    const add = (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes(until)) resolve();
    };
    child.stdout.on('data', add);
    child.stderr.on('data', add);
    void exited.then(() => resolve());
  });
  const signal = (name: NodeJS.Signals) => {
    try {
      process.kill(-(child.pid ?? 0), name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  return {
    output: () => output,
    pid: child.pid ?? 0,
    exited,
    signal,
    async [Symbol.asyncDispose]() {
      signal('SIGINT');
      await exited;
    },
  };
}

/** The lines that a start has printed, beginning with the line `Kith is up`. */
export function bannerIn(output: string): string[] {
  return output.slice(output.indexOf('Kith is up')).trimEnd().split('\n');
}

/** The lines with curl commands that a start has printed. */
export function curlLines(output: string): string[] {
  return output.split('\n').filter((line) => line.startsWith('curl '));
}
