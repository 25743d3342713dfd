import { accessSync, constants, readdirSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { dataFolder } from '../../forms/data-folder.ts';
import { checkInstallation } from '../../forms/installation.ts';
import { storingNames } from '../../services.ts';
import { Check, type Finding, sentenceOf } from './finding.ts';

/** The permission bits of the group and of all other users. */
const others = 0o077;

/**
 * Checks who owns the data folder, who can read it, and whether this process can write to it. If the folder is not usable, the
 * files in it cannot be checked.
 */
export function checkFolder(path: string): { findings: Finding[]; isUsable: boolean } {
  const check = new Check('data folder');
  const isUsable = examineFolder(path, check);
  if (check.findings.length === 0) check.ok(`${path} is readable only by its owner.`);
  return { findings: check.findings, isUsable };
}

function examineFolder(path: string, check: Check): boolean {
  const refuse = (error: unknown) => {
    const says = `${path} cannot be used by this user: ${sentenceOf(error)}`;
    check.wrong(
      says,
      'Run kith doctor as the user that Kith runs as. Make this user the owner of the folder.',
    );
    return false;
  };
  let folder: Stats | undefined;
  try {
    folder = statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    return refuse(error);
  }
  if (!folder) {
    check.wrong(
      `There is no data folder ${path}.`,
      'Set KITH_DATA to the data folder, or start Kith, which creates it.',
    );
    return false;
  }
  if (!folder.isDirectory()) {
    check.wrong(`${path} is not a folder.`, 'Set KITH_DATA to the data folder.');
    return false;
  }
  const uid = process.getuid?.();
  if (uid !== undefined && folder.uid !== uid)
    check.warn(
      `${path} belongs to user ${folder.uid}, but this process runs as user ${uid}.`,
      'Run kith doctor as the user that Kith runs as.',
    );
  if ((folder.mode & others) !== 0)
    check.wrong(`Other users can look into ${path} (${modeOf(folder.mode)}).`, `Run: chmod 700 ${path}`);
  let names: string[];
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    names = readdirSync(path);
  } catch (error) {
    return refuse(error);
  }
  for (const name of names) {
    const file = join(path, name);
    const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
    if ((folder.mode & others) !== 0 && (mode & 0o004) !== 0 && /token|secret/.test(name))
      check.wrong(
        `Every user can read ${file}.`,
        `Run: chmod 600 ${file}. Then replace the secret in the file, because others may have read it.`,
      );
  }
  return true;
}

/** Checks whether the files of the embedded form all belong to the same installation. */
export function checkStamps(path: string): Finding[] {
  const check = new Check('files');
  const storing = storingNames.map((name) => `${name}.sqlite`);
  try {
    checkInstallation(dataFolder(path), ['events.sqlite', ...storing]);
    check.ok('The files belong to one installation.');
  } catch (error) {
    const [says = '', ...mend] = (error as Error).message.split(/(?<=\.) (?=Restore |Check )/);
    check.wrong(says, mend.join(' ') || 'Restore the data folder from a backup (docs/backup.md).');
  }
  return check.findings;
}

function modeOf(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, '0');
}
