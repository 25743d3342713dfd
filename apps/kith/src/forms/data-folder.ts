import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { StartError } from '@kith/base/config';
import { readIfThere } from '../read-if-there.ts';
import { lockFolder, makeFolder } from './folder-lock.ts';
import { type Announcement, type Running, readRunning, runningFile, runningNow } from './running.ts';

/** The folder of an installation, with databases, keys and start.json. Only its owner can read it. */
export interface DataFolder {
  path: string;
  file(name: string): string;
  /** The text of a file, or `undefined` if there is no such file. */
  read(name: string): string | undefined;
  /** Writes a file completely or not at all. Only its owner can read it. */
  write(name: string, content: string): void;
}

/** A folder that this process has locked. */
export interface OpenDataFolder extends DataFolder {
  /** Records in the folder what this process runs. Commands about the folder read the record. */
  announce(what: Announcement): Running;
  /** Unlocks the folder. */
  release(): void;
}

/** Reads and writes files of a folder without locking the folder. Use it only for files that no running platform writes. */
export function dataFolder(folder: string): DataFolder {
  const path = resolve(folder);
  const file = (name: string) => join(path, name);
  return {
    path,
    file,
    read: (name) => readIfThere(file(name)),
    write(name, content) {
      try {
        writeFileSync(file(`${name}.new`), content, { mode: 0o600, flush: true });
        chmodSync(file(`${name}.new`), 0o600);
        renameSync(file(`${name}.new`), file(name));
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        throw new StartError(`The data folder ${path} cannot be written to (${code}).`, { cause: error });
      }
    },
  };
}

/** Opens the folder and locks it for this process. Throws `StartError` if another process has locked it. */
export function openDataFolder(path: string): OpenDataFolder {
  const folder = dataFolder(path);
  makeFolder(folder.path);
  const record = folder.file(runningFile);
  const lock = lockFolder(folder.path, () => {
    // The other process has recorded no address if it is still starting, or if it is a command and not a platform.
    const url = readRunning(folder.path)?.url;
    return url ? `Another Kith is up at ${url} and` : 'Another Kith process';
  });
  // This record may be from a process that was killed, so it is removed.
  rmSync(record, { force: true });
  return {
    ...folder,
    announce(what) {
      const running = runningNow(what);
      folder.write(runningFile, `${JSON.stringify(running, null, 2)}\n`);
      return running;
    },
    release() {
      if (lock.isOpen) rmSync(record, { force: true });
      lock.close();
    },
  };
}
