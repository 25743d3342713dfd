import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartError } from '@kith/service';

/** The folder of an installation: databases, keys, start.json. Its owner's alone. */
export interface DataFolder {
  path: string;
  file(name: string): string;
  /** The text of a file, or `undefined` when there is none. */
  read(name: string): string | undefined;
  /** Writes a file whole or not at all, readable by its owner alone. */
  write(name: string, content: string): void;
  /** Lets go of the folder. */
  release(): void;
}

/** Opens the folder and locks it for this process. Throws `StartError` when another process has it. */
export function openDataFolder(folder: string): DataFolder {
  const path = resolve(folder);
  const file = (name: string) => join(path, name);
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new StartError(
      `The data folder ${path} can not be made (${(error as NodeJS.ErrnoException).code}).`,
      {
        cause: error,
      },
    );
  }
  const lock = lockFolder(path, file('lock'));
  return {
    path,
    file,
    read(name) {
      try {
        return readFileSync(file(name), 'utf8');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
    write(name, content) {
      try {
        writeFileSync(file(`${name}.new`), content, { mode: 0o600 });
        chmodSync(file(`${name}.new`), 0o600);
        renameSync(file(`${name}.new`), file(name));
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        throw new StartError(`The data folder ${path} can not be written to (${code}).`, { cause: error });
      }
    },
    release: () => lock.close(),
  };
}

/** An open write transaction is the lock: the operating system ends it with the process, however that goes. */
function lockFolder(path: string, file: string): DatabaseSync {
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(file, { timeout: 0 });
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock?.close();
    const busy = (error as { errcode?: number }).errcode === 5;
    throw new StartError(
      busy
        ? `Another Kith process uses the data folder ${path}; stop it, or set KITH_DATA to another folder.`
        : `The data folder ${path} can not be written to: ${(error as Error).message}.`,
      { cause: error },
    );
  }
}
