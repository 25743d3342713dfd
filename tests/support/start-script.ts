import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** A start script that runs, as `npm start` runs it. */
export interface Started extends AsyncDisposable {
  /** All it has printed so far. */
  output(): string;
  /** Process id of the platform itself, below the bootstrap. */
  pid: number;
  /** Resolves with the exit code. */
  exited: Promise<number>;
  signal(name: NodeJS.Signals): void;
}

/** Runs a script through the bootstrap; resolves when `until` stands in its output, or when it has ended. */
export async function startScript(
  script: string,
  options: { env: NodeJS.ProcessEnv; until: string; words?: readonly string[] },
): Promise<Started> {
  const child = spawn(process.execPath, ['tools/bootstrap.mjs', script, ...(options.words ?? [])], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own, as a shell gives it: Ctrl-C reaches all of it.
    detached: true,
  });
  let output = '';
  const exited = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
  await new Promise<void>((resolve) => {
    const add = (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes(options.until)) resolve();
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

/** The curl lines a start has printed. */
export function curlLines(output: string): string[] {
  return output.split('\n').filter((line) => line.startsWith('curl '));
}
