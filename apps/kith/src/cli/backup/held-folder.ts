import { existsSync, lstatSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { constants, hostname } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { isLocked, lockFile, lockFolder } from '../../forms/folder-lock.ts';
import { readIfThere } from '../../read-if-there.ts';

/**
 * The name of the file that marks a folder as unfinished. The file names the process that works in the folder. If this process
 * dies, the folder is useless.
 */
const marker = 'unfinished';
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Held {
  /** Whether the folder has only sealed data. If so, the folder may be on a file system without locks. */
  isSealed?: boolean;
}

/**
 * Runs `work` in a temporary folder. The folder must not be left behind, because its data may be unsealed or incomplete. First
 * removes what a killed process has left in the folder. Removes the folder after the work, or when this process exits or is ended
 * by a signal. If the process is killed, `removeLeft` can detect that no process works in the folder any more. Throws
 * `StartError` if another process works in the folder.
 */
export async function inHeldFolder<T>(
  path: string,
  work: () => Promise<T>,
  { isSealed = false }: Held = {},
): Promise<T> {
  const lock = lockHeld(path, isSealed);
  // A folder without a lock gets no mark. With the mark alone, `removeLeft` would take this process for dead.
  if (lock) writeFileSync(join(path, marker), `process ${process.pid} on ${hostname()}`, { mode: 0o600 });
  const forget = removeAtEnd(path);
  try {
    emptyFolder(path);
    return await work();
  } finally {
    try {
      removeFolder(path);
    } finally {
      forget();
      lock?.close();
    }
  }
}

/**
 * Locks the folder. The operating system unlocks the folder when the process dies. A stored process id would not be enough,
 * because containers that share a folder do not see each other's processes.
 */
function lockHeld(path: string, isSealed: boolean): DatabaseSync | undefined {
  const holder = () => {
    const named = readIfThere(join(path, marker));
    return named ? `Another kith (${named})` : 'Another kith';
  };
  try {
    return lockFolder(path, holder, { what: 'folder', advice: 'choose another folder' });
  } catch (error) {
    // A file system without locks gives the same error as a lock of another process. A process marks only folders that it has
    // locked. So if the folder is not marked, the file system probably has no locks.
    if (isSealed && !existsSync(join(path, marker))) return undefined;
    throw error;
  }
}

/** Removes the folders in `above` that `isNamed` accepts and that belong to a dead process. */
export function removeLeft(
  above: string,
  isNamed: (name: string) => boolean,
  progress: (line: string) => void,
): void {
  if (!existsSync(above)) return;
  for (const name of readdirSync(above)) {
    const path = join(above, name);
    if (!isNamed(name) || !isLeft(path)) continue;
    removeFolder(path);
    progress(`removed ${path}, which an interrupted command has left`);
  }
}

function isLeft(path: string): boolean {
  const isMarked = () => existsSync(join(path, marker));
  try {
    const found = lstatSync(path);
    // Every user can make folders in /dev/shm. Folders of other users are skipped, because opening their files could hang or do
    // harm.
    if (!found.isDirectory() || found.uid !== (process.getuid?.() ?? found.uid)) return false;
    // A process locks its folder before it marks the folder, and removes the mark before it unlocks the folder. So if a marked
    // folder is found unlocked, and is still marked after that, its process is dead.
    return isMarked() && !isLocked(path) && isMarked();
  } catch {
    // The folder was removed in the meantime, or cannot be read.
    return false;
  }
}

const options = { recursive: true, force: true, maxRetries: 3 } as const;

function emptyFolder(path: string): void {
  const names = readdirSync(path).filter((name) => name !== marker && name !== lockFile);
  for (const name of names) rmSync(join(path, name), options);
}

/**
 * Removes the marker last. So if the removal is interrupted, the folder is still marked, and `removeLeft` removes the rest
 * later.
 */
function removeFolder(path: string): void {
  emptyFolder(path);
  rmSync(join(path, lockFile), options);
  rmSync(path, options);
}

/** Removes a folder when this process exits or is ended by a signal. Returns a function that cancels the removal. */
function removeAtEnd(path: string): () => void {
  const remove = () => {
    forget();
    try {
      removeFolder(path);
    } catch {
      // The removal fails if a call that is still under way writes to the folder. The next backup removes what is left.
    }
  };
  const end = (signal: (typeof signals)[number]) => {
    remove();
    // Another listener may still have to remove its folder. The last listener ends the process.
    if (process.listenerCount(signal) > 0) return;
    process.kill(process.pid, signal);
    // In a container, the first process survives a signal that it sends to itself. Then this line ends the process.
    process.exit(128 + constants.signals[signal]);
  };
  const forget = () => {
    process.off('exit', remove);
    for (const signal of signals) process.off(signal, end);
  };
  process.on('exit', remove);
  for (const signal of signals) process.on(signal, end);
  return forget;
}
