import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { StartError } from '@kith/base';
import { lockFolder, makeFolder } from './folder-lock.ts';

/** The folder of an installation: databases, keys, start.json. Its owner's alone. */
export interface DataFolder {
  path: string;
  file(name: string): string;
  /** The text of a file, or `undefined` when there is none. */
  read(name: string): string | undefined;
  /** Writes a file whole or not at all, readable by its owner alone. */
  write(name: string, content: string): void;
  /** Leaves word of where the process that has the folder is up, for who finds it taken. */
  announce(url: string): void;
  /** Lets go of the folder. */
  release(): void;
}

/** Opens the folder and locks it for this process. Throws `StartError` when another process has it. */
export function openDataFolder(folder: string): DataFolder {
  const path = resolve(folder);
  const file = (name: string) => join(path, name);
  makeFolder(path);
  const address = file('address');
  const lock = lockFolder(path, { lock: file('lock'), address });
  // Of a process that was killed.
  rmSync(address, { force: true });
  const opened: DataFolder = {
    path,
    file,
    read: (name) => readIfThere(file(name)),
    write(name, content) {
      try {
        writeFileSync(file(`${name}.new`), content, { mode: 0o600 });
        chmodSync(file(`${name}.new`), 0o600);
        renameSync(file(`${name}.new`), file(name));
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        throw new StartError(`The data folder ${path} cannot be written to (${code}).`, { cause: error });
      }
    },
    announce: (url) => opened.write('address', `${url}\n`),
    release() {
      if (lock.isOpen) rmSync(address, { force: true });
      lock.close();
    },
  };
  return opened;
}

/** The text of a file, or `undefined` where there is none. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
