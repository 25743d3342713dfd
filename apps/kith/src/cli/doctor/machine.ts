import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Check, type Finding } from './finding.ts';

const gibibyte = 1024 ** 3;
/** How far the clocks of one installation may differ, in ms. A larger difference would affect tokens and limits. */
export const skewMs = 2_000;

/** Checks whether Node has the version that package.json asks for. */
export function checkNode(version = process.versions.node): Finding[] {
  const check = new Check('node');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 24 || (major === 24 && minor >= 7)) check.ok(`Node ${version}.`);
  else check.wrong(`Node ${version} is too old.`, 'Install Node 24.7 or newer.');
  return check.findings;
}

/** Checks that the machine synchronises its clock, and that no file in the folder has a time in the future. */
export function checkClock(folder: string): Finding[] {
  const check = new Check('clock');
  const newest = newestIn(folder);
  const behind = newest === undefined ? 0 : newest.mtimeMs - Date.now();
  const said = spawnSync('timedatectl', ['show', '-p', 'NTPSynchronized', '--value'], { encoding: 'utf8' });
  if (behind > skewMs)
    check.wrong(
      `The clock is ${Math.round(behind / 1000)} s behind: ${newest?.path} has a time in the future.`,
      'Set the clock, and synchronise it with chrony or systemd-timesyncd.',
    );
  if (said.stdout?.trim() === 'no')
    check.warn('This machine’s clock is not synchronised.', 'Run: timedatectl set-ntp true');
  if (check.findings.length === 0) check.ok(`It is ${new Date().toISOString()}.`);
  return check.findings;
}

function newestIn(folder: string): { path: string; mtimeMs: number } | undefined {
  try {
    const files = readdirSync(folder).map((name) => {
      const path = join(folder, name);
      return { path, mtimeMs: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 };
    });
    return files.toSorted((a, b) => b.mtimeMs - a.mtimeMs)[0];
  } catch {
    // The folder is not there, or cannot be read. `checkFolder` reports this.
    return undefined;
  }
}

/** Checks the free space on the disk of a folder. The folder need not exist yet. */
export function checkDisk(folder: string, leastGib: number): Finding[] {
  const check = new Check('disk');
  let there = folder;
  while (!existsSync(there) && dirname(there) !== there) there = dirname(there);
  const { bavail, bsize } = statfsSync(there);
  const free = (bavail * bsize) / gibibyte;
  const says = `${free.toFixed(1)} GiB are free at ${folder}`;
  if (free >= leastGib) check.ok(`${says}.`);
  else
    check.wrong(
      `${says}, less than ${leastGib}. When the disk is full, Kith refuses changes.`,
      'Free some space; delete old backups and logs first.',
    );
  return check.findings;
}
