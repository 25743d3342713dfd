import { closeSync, existsSync, fsyncSync, openSync, statSync } from 'node:fs';
import { chmod, constants, copyFile, rm } from 'node:fs/promises';
import { backup, DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';

/** How long to wait for another process that has locked a file, in ms. */
const busyMs = 5_000;
const pagesAtOnce = 2_000;

/**
 * Copies database files while another process writes to them. All copies have the state of the same moment. Writers have to
 * wait only while this function begins to read, for less than a millisecond per file. Calls `progress` each time a file is
 * copied.
 */
export async function snapshotFiles(
  files: readonly { from: string; to: string }[],
  progress: (from: string) => void = () => undefined,
): Promise<void> {
  const readers: DatabaseSync[] = [];
  try {
    const locks: DatabaseSync[] = [];
    try {
      for (const { from } of files) readers.push(new DatabaseSync(from, { timeout: busyMs }));
      for (const { from } of files) {
        const lock = new DatabaseSync(from, { timeout: busyMs });
        locks.push(lock);
        lock.exec('BEGIN IMMEDIATE');
      }
      for (const reader of readers) {
        reader.exec('BEGIN');
        // From here on, the reader sees the file as it is at this moment.
        reader.prepare('SELECT count(*) FROM sqlite_schema').get();
      }
    } finally {
      for (const lock of locks) lock.close();
    }
    for (const [at, { from, to }] of files.entries()) {
      closeSync(openSync(to, 'wx', 0o600));
      await backup(readers[at] as DatabaseSync, to, { rate: pagesAtOnce });
      flush(to);
      progress(from);
    }
  } finally {
    for (const reader of readers) reader.close();
  }
}

/**
 * Copies database files to which probably no process is writing. Writes nothing into the folder of these files, so the folder
 * may be read-only. If a process has meanwhile written to one of the files, or has died without closing it, copies the files as
 * {@link snapshotFiles} does.
 */
export async function copyStillFiles(files: readonly { from: string; to: string }[]): Promise<void> {
  const isOpen = () => files.some(({ from }) => ['-wal', '-journal'].some((end) => existsSync(from + end)));
  const states = () =>
    files.map(({ from }) => {
      const { ino, size, mtimeNs } = statSync(from, { bigint: true });
      return { ino, size, mtimeNs };
    });
  if (isOpen()) return snapshotFiles(files);
  const before = states();
  for (const { from, to } of files) {
    await copyFile(from, to, constants.COPYFILE_FICLONE);
    await chmod(to, 0o600);
    flush(to);
  }
  if (!isOpen() && isDeepStrictEqual(states(), before)) return;
  for (const { to } of files) await rm(to);
  await snapshotFiles(files);
}

/** Makes sure that a file is on the disk. */
export function flush(path: string): void {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
