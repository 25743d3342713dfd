import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, release, totalmem } from 'node:os';
import { coreTimes } from './processes.ts';

/** Describes the measured machine, and the versions of the software on it, for the report. */
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

/**
 * Begins to watch the machine. The returned function returns the share of the cores' time that a hypervisor has taken since
 * this call.
 */
export function watchStolen(): () => number {
  const before = coreTimes();
  return () => {
    const after = coreTimes();
    const stolen = after.stolen - before.stolen;
    const own = after.used - before.used + after.idle - before.idle;
    return stolen / (own + stolen || 1);
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
    // `wrk -v` prints its version, but exits with an error. So the version is read from the output of the failed command.
    return ((error as { stdout?: string }).stdout?.split('\n')[0] ?? 'unknown').trim();
  }
}
