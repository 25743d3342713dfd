import { closeSync, openSync, readSync, renameSync, statSync, truncateSync, writeFileSync } from 'node:fs';

const most = 50 * 1024 * 1024;

/**
 * If a log file has more than `mostBytes`, moves its last `mostBytes` to `<file>.1`, and replaces the older content there. The
 * process that writes the log keeps its descriptor, so the content is copied, and then the file is emptied. Lines that are
 * written meanwhile are lost. The process has to append to the file. If the content cannot be moved, the file stays as it is.
 */
export function rotateLog(file: string, mostBytes = most): void {
  try {
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size <= mostBytes) return;
    writeFileSync(`${file}.1.new`, lastOf(file, size, mostBytes), { mode: 0o600 });
    renameSync(`${file}.1.new`, `${file}.1`);
    truncateSync(file);
  } catch {
    // The next round tries again. A log must not stop the platform.
  }
}

function lastOf(file: string, size: number, bytes: number): Buffer {
  const descriptor = openSync(file, 'r');
  try {
    const last = Buffer.alloc(bytes);
    return last.subarray(0, readSync(descriptor, last, 0, bytes, size - bytes));
  } finally {
    closeSync(descriptor);
  }
}
