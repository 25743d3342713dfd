import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';

/** What commands have printed on both streams, and the exit code of the first command that failed. */
export interface Printed {
  output: string;
  code: number;
}

/** A shell that keeps its variables and background processes from one run of commands to the next. */
export interface Shell extends AsyncDisposable {
  /** Runs commands. If they take longer than 15 minutes, the promise rejects. The error contains the output of the commands. */
  run(commands: string): Promise<Printed>;
}

const patienceMs = 900_000;

/** The environment without the variables of this test runner, because a guide may itself run `npm test`. */
const outside = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(VITEST|KITH_TEST_)/.test(name)),
);

/** Starts bash in a folder. Disposing the shell ends bash and everything that it has started. */
export function startShell({ folder, env = {} }: { folder: string; env?: NodeJS.ProcessEnv }): Shell {
  const shell = spawn('bash', ['--noprofile', '--norc'], {
    cwd: folder,
    env: { ...outside, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
    // The shell gets a process group of its own. So everything that it has started can be ended together with it.
    detached: true,
  });
  const exited = once(shell, 'exit');
  let printed = '';
  let look = () => {};
  shell.stdout.on('data', (chunk: Buffer) => {
    printed += chunk;
    look();
  });
  return {
    run(commands) {
      const mark = randomUUID();
      const done = new RegExp(`([^]*)${mark} (\\d+)\n`);
      printed = '';
      // The commands run in the shell itself, not in a child. So they run without `set -e`, because `set -e` would end the shell at
      // the first failure.
      const lines = `{ trap 'failed=$?; trap - ERR' ERR; failed=0\n${commands}\n} 2>&1 </dev/null\ntrap - ERR; echo ${mark} $failed\n`;
      return new Promise((resolve, reject) => {
        look = () => {
          const [, output, code] = done.exec(printed) ?? [];
          if (output !== undefined) resolve({ output, code: Number(code) });
        };
        const fail = (what: string) => reject(new Error(`The shell ${what}, with:\n${commands}\n${printed}`));
        setTimeout(() => fail('does not end'), patienceMs).unref();
        void exited.then(() => fail('has ended'));
        shell.stdin.write(lines);
      });
    },
    async [Symbol.asyncDispose]() {
      try {
        process.kill(-(shell.pid ?? 0), 'SIGKILL');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
      await exited;
    },
  };
}
