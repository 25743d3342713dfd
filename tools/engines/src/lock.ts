import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { cacheFolder, type Progress } from './step.ts';

/**
 * Holds a lock while `work` runs. So no other process of this user can run work under the same lock at the same time. The lock
 * is SQLite's lock on a file. The kernel releases the lock when the process ends, no matter how it ends. So no lock is ever
 * left behind.
 */
export async function exclusively<T>(
  work: () => Promise<T>,
  { progress, file = join(cacheFolder(), 'engines.lock') }: { progress: Progress; file?: string },
): Promise<T> {
  using database = new DatabaseSync(file, { timeout: 0 });
  for (let waited = false; !tryLock(database); await sleep(250)) {
    if (!waited) progress('Another process is preparing the engines; waiting for it …');
    waited = true;
  }
  return await work();
}

function tryLock(database: DatabaseSync): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    // Only the code SQLITE_BUSY means that another process holds the lock.
    if ((error as { errcode?: number }).errcode === 5) return false;
    throw error;
  }
}
