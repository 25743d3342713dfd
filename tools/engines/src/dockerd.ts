import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { dockerState } from './docker.ts';
import { run } from './run.ts';
import { EnginesError, type Progress } from './step.ts';

const log = '/var/log/kith-dockerd.log';

// The sets of options, in the order in which they are tried. With the first set, dockerd uses all that the kernel offers. With the
// second set, it uses no packet filter. With the third set, it uses neither a packet filter nor an overlay file system.
const attempts: readonly string[][] = [
  [],
  ['--iptables=false'],
  ['--iptables=false', '--storage-driver=vfs'],
];

/**
 * Starts Docker's engine and waits until it answers. If no init system can start the engine, the engine becomes a detached process,
 * which outlives this process.
 */
export async function startDockerd(progress: Progress): Promise<void> {
  if (existsSync('/run/systemd/system')) {
    await run('systemctl', ['start', 'docker'], { timeoutMs: 60_000 });
    if (await answersWithin(30_000, () => true)) return;
    throw new EnginesError('docker.service does not answer; `systemctl status docker` says why');
  }
  for (const flags of attempts) {
    progress(`Starting dockerd ${flags.join(' ')}`.trim());
    removeStalePidFiles();
    if (await startOnce(flags)) return;
  }
  throw new EnginesError(`dockerd does not start; its log is ${log}`);
}

async function startOnce(flags: readonly string[]): Promise<boolean> {
  const output = openSync(log, 'a', 0o600);
  const from = statSync(log).size;
  const child = spawn('dockerd', ['--log-level=warn', ...flags], {
    detached: true,
    env: { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/local/sbin:/usr/sbin:/sbin` },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  let alive = true;
  child.once('exit', () => (alive = false));
  child.once('error', () => (alive = false));
  child.unref();
  if (await answersWithin(60_000, () => alive)) return true;
  // An engine that hangs would keep the folders that the next attempt needs. So it is ended.
  if (alive) child.kill('SIGTERM');
  for (let tries = 0; alive && tries < 100; tries++) await sleep(100);
  if (readFileSync(log).subarray(from).includes('is docker already running')) {
    throw new EnginesError(`another dockerd is running and does not answer; its log may be ${log}`);
  }
  return false;
}

async function answersWithin(limitMs: number, alive: () => boolean): Promise<boolean> {
  for (
    const deadline = performance.now() + limitMs;
    alive() && performance.now() < deadline;
    await sleep(200)
  ) {
    if ((await dockerState()).answers) return true;
  }
  return false;
}

// Removes the files with process ids, unless dockerd or containerd runs under these ids. The files stay behind if the machine
// was switched off. By now, other processes may have these ids, and dockerd would conclude that dockerd or containerd is
// already running.
function removeStalePidFiles(): void {
  const files = {
    '/var/run/docker.pid': 'dockerd',
    '/var/run/docker/containerd/containerd.pid': 'containerd',
  };
  for (const [file, command] of Object.entries(files)) {
    if (existsSync(file) && commandOf(readFileSync(file, 'utf8').trim()) !== command) rmSync(file);
  }
}

function commandOf(pid: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return undefined;
  }
}
