import { DatabaseSync } from 'node:sqlite';

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const damaged = [11, 26];

/** Reads a whole database file. Throws an error that `isDamage` recognizes if a part of the file is damaged. */
export function checkWhole(file: string): void {
  using db = new DatabaseSync(file);
  const said = String(db.prepare('PRAGMA quick_check(1)').get()?.quick_check);
  if (said !== 'ok') throw Object.assign(new Error(said), { errcode: damaged[0] });
}

/** Whether an error says that a database file is damaged. */
export function isDamage(error: unknown): error is Error {
  return damaged.includes((error as { errcode?: number }).errcode ?? 0);
}
