import { readFile } from 'node:fs/promises';

export interface Distribution {
  /** The id in /etc/os-release, for example `debian` or `ubuntu`. Empty if there is no such file. */
  id: string;
  codename: string;
}

/** Reads the fields of an os-release file. */
export function parseOsRelease(text: string): Distribution {
  const value = (name: string) => new RegExp(`^${name}="?([^"\\n]*)"?$`, 'm').exec(text)?.[1] ?? '';
  return { id: value('ID'), codename: value('VERSION_CODENAME') };
}

/** Reads which Linux distribution this machine has. */
export async function distribution(): Promise<Distribution> {
  return parseOsRelease(await readFile('/etc/os-release', 'utf8').catch(() => ''));
}

/** Whether this process may install packages. For this, it has to be root, on a distribution whose packages we know. */
export async function mayInstall(): Promise<boolean> {
  return process.getuid?.() === 0 && ['debian', 'ubuntu'].includes((await distribution()).id);
}
