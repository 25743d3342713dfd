import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** The prefix of the newest event in an embedded installation's log. `undefined` if there is no event. */
export function prefixOfLog(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  using db = new DatabaseSync(file, { timeout: 5_000 });
  const newest = db.prepare('SELECT subject FROM events ORDER BY position DESC LIMIT 1').get();
  return newest && String(newest.subject).split('.event.')[0];
}
