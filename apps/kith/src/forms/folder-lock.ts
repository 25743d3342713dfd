import { mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartError } from '@kith/base/config';

/** Makes a folder and all missing folders above it. Only their owner can enter them. Throws `StartError`. */
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

/**
 * Makes a folder and all missing folders above it, one after the other. With `recursive: true`, Node would try for ever to make
 * a folder below /proc, where no folder can be made (ENOENT).
 */
function makeWithParents(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  const parent = dirname(path);
  if (parent !== path) makeWithParents(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made the folder in the meantime.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

/** A process locks a folder by locking this file in it. */
export const lockFile = 'lock';
/** How long to wait for the lock, in ms. A command holds the lock for a moment while it checks whether the folder is locked. */
const patienceMs = 250;

/**
 * Makes a file if it does not exist, and locks it for this process, by a write transaction that stays open. When the process
 * ends, for whatever reason, the operating system removes the lock. Blocks this process for up to `waitMs` if another process
 * has locked the file. Then throws an error that {@link isBusy} recognizes.
 */
export function lockBy(file: string, { waitMs = patienceMs } = {}): DatabaseSync {
  const lock = new DatabaseSync(file, { timeout: waitMs });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    throw error;
  }
}

/**
 * Locks a folder for this process, as {@link lockBy} does. Throws `StartError` if another process has locked the folder.
 * `holder` names this other process.
 */
export function lockFolder(
  path: string,
  holder: () => string,
  { what = 'data folder', advice = 'set KITH_DATA to another folder' } = {},
): DatabaseSync {
  try {
    return lockBy(join(path, lockFile));
  } catch (error) {
    throw new StartError(
      isBusy(error)
        ? `${holder()} uses the ${what} ${path}; stop it, or ${advice}.`
        : `The ${what} ${path} cannot be written to: ${(error as Error).message}.${ofAnother(path)}`,
      { cause: error },
    );
  }
}

/**
 * If a folder belongs to another user, returns a sentence that says so. Otherwise returns an empty text. For example, a start
 * with `sudo` makes such a folder.
 */
function ofAnother(path: string): string {
  const [owner, own] = [statSync(path).uid, process.geteuid?.()];
  return own === undefined || owner === own
    ? ''
    : ` It belongs to user ${owner}, but this process runs as user ${own}.`;
}

/** Whether a process has locked the folder. Throws `StartError` if this user has no right to look into the folder. */
export function isLocked(path: string): boolean {
  const file = join(path, lockFile);
  try {
    if (!statSync(file, { throwIfNoEntry: false })) return false;
    using lock = new DatabaseSync(file, { timeout: 0, readOnly: true });
    lock.prepare('SELECT 1 FROM sqlite_schema').get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw new StartError(`The data folder ${path} cannot be read: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

/** Whether an error says that another process has locked a file. */
export function isBusy(error: unknown): boolean {
  return (error as { errcode?: number }).errcode === 5;
}
