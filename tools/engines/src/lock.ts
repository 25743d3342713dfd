import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { cacheFolder, type Progress } from './step.ts';

/**
 * Runs work while no other process of this user does so. The lock is SQLite's lock on a file, which the kernel releases however the
 * process ends, so no lock is ever left behind.
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
    // SQLITE_BUSY is the only code that means that another process holds the lock.
    if ((error as { errcode?: number }).errcode === 5) return false;
    throw error;
  }
}
