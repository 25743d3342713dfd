import { copyFileSync, rmSync, statSync, truncateSync } from 'node:fs';

const most = 50 * 1024 * 1024;

/**
 * If a log file has more than `mostBytes`, moves its content to `<file>.1`, and replaces the older content there. The process that
 * writes the log keeps its descriptor, so the content is copied and the file emptied: lines that are written meanwhile are lost.
 * The process has to append to the file.
 */
export function rotateLog(file: string, mostBytes = most): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= mostBytes) return;
  const older = `${file}.1`;
  try {
    copyFileSync(file, older);
  } catch {
    // On a full disk, it is better to lose old lines than to stop the platform.
    rmSync(older, { force: true });
  }
  truncateSync(file);
}
