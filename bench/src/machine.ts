import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem } from 'node:os';

/** What was measured on and with, for the report. */
export function describeMachine(images: Record<string, string>): [what: string, is: string][] {
  return [
    ['commit', commit()],
    ['date', new Date().toISOString().slice(0, 10)],
    ['processor', `${cpus()[0]?.model.trim() ?? 'unknown'}, ${availableParallelism()} cores`],
    ['memory', `${Math.round(totalmem() / 2 ** 30)} GiB`],
    ['kernel', `${process.platform} ${release()}`],
    ['Node', process.version],
    ['wrk', firstLine('wrk', ['-v'])],
    ['OpenSSL', firstLine('openssl', ['version'])],
    ...Object.entries(images),
  ];
}

/** Begins to watch the machine; gives the share of its cores' time that a hypervisor has kept from it since (proc(5)). */
export function watchStolen(): () => number {
  const times = () => {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
    // user, nice, system, idle, iowait, irq, softirq, steal; what guests take stands among them already.
    const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number);
    return { all: ticks.reduce((sum, one) => sum + one, 0), stolen: ticks[7] ?? 0 };
  };
  const began = times();
  return () => {
    const { all, stolen } = times();
    return (stolen - began.stolen) / (all - began.all || 1);
  };
}

function commit(): string {
  const head = firstLine('git', ['rev-parse', '--short', 'HEAD']);
  const isChanged = firstLine('git', ['status', '--porcelain', '--untracked-files=no']) !== '';
  return isChanged ? `${head}, with changes` : head;
}

function firstLine(program: string, words: string[]): string {
  try {
    return (
      execFileSync(program, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).split(
        '\n',
      )[0] ?? ''
    ).trim();
  } catch (error) {
    // `wrk -v` prints its version and fails.
    return ((error as { stdout?: string }).stdout?.split('\n')[0] ?? 'unknown').trim();
  }
}
