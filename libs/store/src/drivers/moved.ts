import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartError } from '@kith/base';

/** Higher than every schema version. So a version of Kith that does not know about moving refuses a moved file as well. */
const movedVersion = 1_000_000;

/** The schema version that is stored in a database file. */
export function schemaVersion(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.user_version);
}

/** Marks a database file as moved: its data is now elsewhere, and nobody can open the file any more. */
export function markMoved(file: string): void {
  using db = new DatabaseSync(file, { timeout: 5_000 });
  const version = schemaVersion(db);
  if (version < movedVersion) db.exec(`PRAGMA user_version = ${movedVersion + version}`);
}

/** Whether a database file is marked as moved. */
export function isMoved(file: string): boolean {
  using db = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  return schemaVersion(db) >= movedVersion;
}

/** Throws `StartError` if the schema version of a file says that the file was moved. */
export function refuseMoved(file: string, version: number): void {
  if (version < movedVersion) return;
  throw new StartError(
    `The data in ${dirname(file)} was moved to the distributed form. Start that form. If the move was interrupted, run kith move again.`,
  );
}
