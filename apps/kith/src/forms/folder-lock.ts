import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartError } from '@kith/base';

/** Makes a folder with those above it, its owner's alone. Throws `StartError`. */
export function makeFolder(path: string): void {
  try {
    makeWithParents(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(
      `The data folder ${path} cannot be created (${code}); set KITH_DATA to another folder.`,
      { cause: error },
    );
  }
}

/** Not by `recursive: true`: below /proc, which says ENOENT of what cannot be made, that tries for ever. */
function makeWithParents(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  const parent = dirname(path);
  if (parent !== path) makeWithParents(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it in between.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

/**
 * Locks a folder for this process: an open write transaction, which the operating system ends with the process, however
 * that goes. Throws `StartError` when another process has it, which says where that one is up.
 */
export function lockFolder(path: string, files: { lock: string; address: string }): DatabaseSync {
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(files.lock, { timeout: 0 });
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock?.close();
    const busy = (error as { errcode?: number }).errcode === 5;
    throw new StartError(
      busy
        ? `${holderAt(files.address)} uses the data folder ${path}; stop it, or set KITH_DATA to another folder.`
        : `The data folder ${path} cannot be written to: ${(error as Error).message}.`,
      { cause: error },
    );
  }
}

/** Who has the folder, by the address it has left there; one that is still starting, or has none, left nothing. */
function holderAt(file: string): string {
  try {
    return `Another Kith is up at ${readFileSync(file, 'utf8').trim()} and`;
  } catch {
    return 'Another Kith process';
  }
}
