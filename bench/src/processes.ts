import { type ChildProcess, spawn } from 'node:child_process';
import { openSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { nodeFlags } from '@kith/platform';

/** A process that the benchmark has started. */
export interface Running {
  readonly pid: number;
  /** The message that the process sent when it was ready. */
  readonly ready: { url?: string };
  stop(): Promise<void>;
}

const startMs = 60_000;
const isService = /\/services\/[^/]+\/src\/main\.ts$/;

/**
 * Starts a script with this Node, and waits for the script's message `{type: 'ready'}`. If cores are given, the script runs on
 * these cores.
 */
export async function startScript(
  script: string,
  options: { env: NodeJS.ProcessEnv; log: string; cores?: string | undefined; flags?: readonly string[] },
): Promise<Running> {
  const log = openSync(options.log, 'a', 0o600);
  // A service of Kith gets the flags that it has in every deployment. A peer runs without flags, as its users would run it.
  const usual = isService.test(script) ? nodeFlags : [];
  const command = [process.execPath, ...usual, ...(options.flags ?? []), script];
  const [program = '', ...words] = options.cores ? ['taskset', '-c', options.cores, ...command] : command;
  const child = spawn(program, words, { env: options.env, stdio: ['ignore', log, log, 'ipc'] });
  const end = () => child.kill();
  process.once('exit', end);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  void exited.then(() => process.off('exit', end));
  const ready = await Promise.race([
    readyOf(child),
    exited.then(() => {
      throw new Error(`${script} ended before it was ready; its log is ${options.log}.`);
    }),
  ]);
  return {
    pid: child.pid ?? 0,
    ready,
    async stop() {
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await exited;
      clearTimeout(late);
    },
  };
}

function readyOf(child: ChildProcess): Promise<Running['ready']> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error('A process of the benchmark was not ready in time.'));
    }, startMs);
    child.on('message', (message: { type?: string; url?: string }) => {
      if (message.type !== 'ready') return;
      clearTimeout(timer);
      resolve(message.url ? { url: message.url } : {});
    });
  });
}

/** Linux counts a process's time in ticks of 10 ms (`getconf CLK_TCK`). */
const tickMicros = 10_000;

/** The CPU time of a process so far, in user and system mode, in µs. Reads `/proc`, which only Linux has (proc(5)). */
export function cpuMicros(pid: number): number {
  // The second field is a name in brackets, which can contain spaces. It ends at the last bracket.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickMicros;
}

/** The resident memory of a process, in bytes. */
export function residentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}

/**
 * The CPU time of the whole machine so far, in µs. `processes` has the time of each process, by its script or name. `used` and
 * `idle` are sums over all cores.
 */
export interface MachineTime {
  processes: Record<string, number>;
  used: number;
  idle: number;
}

/** Reads the CPU times of all processes and of the machine (proc(5)). */
export function cpuByName(): MachineTime {
  const processes: Record<string, number> = {};
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const name = nameOf(pid);
      processes[name] = (processes[name] ?? 0) + cpuMicros(Number(pid));
    } catch {
      // The process has ended since its id was listed, so it is left out.
    }
  }
  const { used, idle } = coreTimes();
  return { processes, used, idle };
}

/**
 * The time of all cores so far, in µs (proc(5)). `used` is the time of work, `idle` the time without work, and `stolen` the
 * time that a hypervisor has given to other machines.
 */
export function coreTimes(): { used: number; idle: number; stolen: number } {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  // The line has two more columns, for guests. They are left out, because `user` and `nice` already include the guests' time.
  const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softirq = 0, stolen = 0] = line
    .trim()
    .split(/\s+/)
    .slice(1)
    .map((ticks) => Number(ticks) * tickMicros);
  return { used: user + nice + system + irq + softirq, idle: idle + wait, stolen };
}

/** If the process runs a Node script: the last four parts of the script's path. Otherwise: the program's name. */
function nameOf(pid: string): string {
  const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  const script = words.find((word) => /\.(ts|mjs)$/.test(word));
  if (script) return script.split('/').slice(-4).join('/');
  return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
}

/** The script that runs a service, or the gateway, as a process. */
export function serviceMain(name: string): string {
  return fileURLToPath(new URL(`../../services/${name}/src/main.ts`, import.meta.url));
}
