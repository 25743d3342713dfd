import type { Locked } from '../bootstrap/sizes.mjs';

/** A kind of machine, in npm's words. */
export interface Machine {
  os: string;
  cpu: string;
  /** Only on Linux. */
  libc?: 'glibc' | 'musl';
}

export function thisMachine(): Machine {
  const { platform: os, arch: cpu } = process;
  if (os !== 'linux') return { os, cpu };
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return { os, cpu, libc: header.glibcVersionRuntime ? 'glibc' : 'musl' };
}

/** Whether a package is a build for this kind of machine only. Returns `false` for a package that runs everywhere. */
export function isBuiltFor({ os, cpu, libc = 'glibc' }: Machine, entry: Locked): boolean {
  if (!entry.os && !entry.cpu) return false;
  const takes = (listed: string[] | undefined, one: string) => !listed || listed.includes(one);
  return takes(entry.os, os) && takes(entry.cpu, cpu) && takes(entry.libc, libc);
}

/** The options with which npm installs packages for this kind of machine, even if npm runs on another kind of machine. */
export function npmWordsFor({ os, cpu, libc }: Machine): string[] {
  return [`--os=${os}`, `--cpu=${cpu}`, ...(libc ? [`--libc=${libc}`] : [])];
}
