import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';

export interface Ran {
  /** The exit code; `null` if the command could not be started or was ended at its time limit. */
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  env?: NodeJS.ProcessEnv;
  /** Ends the command after this time, in ms. */
  timeoutMs?: number;
  /** Ends the command if it has printed nothing within this time, in ms. */
  firstOutputMs?: number;
  /** A file to which the command's output is appended. */
  log?: string;
}

/** Runs a command to its end, without a shell. Never throws. If the command does not exist, the code is `null`. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      env: withSystemPath(options.env),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const log = options.log ? createWriteStream(options.log, { flags: 'a', mode: 0o600 }) : undefined;
    const printed = { stdout: '', stderr: '' };
    const end = () => child.kill('SIGTERM');
    const limit = options.timeoutMs ? setTimeout(end, options.timeoutMs) : undefined;
    const silence = options.firstOutputMs ? setTimeout(end, options.firstOutputMs) : undefined;
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].on('data', (data: Buffer) => {
        clearTimeout(silence);
        log?.write(data);
        // A build prints megabytes, but only its last lines are ever shown. So only the end of the output is kept.
        printed[name] = (printed[name] + data.toString()).slice(-200_000);
      });
    }
    const finish = (code: number | null, error = '') => {
      clearTimeout(limit);
      clearTimeout(silence);
      const ran = { code, stdout: printed.stdout, stderr: printed.stderr + error };
      if (log) log.end(() => resolve(ran));
      else resolve(ran);
    };
    child.on('error', (error) => finish(null, error.message));
    child.on('close', (code) => finish(code));
  });
}

// debootstrap, dockerd and iptables are in folders that may be missing from the PATH after `su`.
function withSystemPath(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return { ...env, PATH: `${env.PATH ?? ''}:/usr/local/sbin:/usr/sbin:/sbin` };
}
