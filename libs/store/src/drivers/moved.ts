import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartError } from '@kith/base';

/** Above every schema version, so that versions of Kith that do not know about moving refuse such a file as well. */
const movedVersion = 1_000_000;

/** The schema version that a database file says it has. */
export function schemaVersion(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.user_version);
}

/** Marks a database file as moved: its data lives elsewhere, and nobody opens it from then on. */
export function markMoved(file: string): void {
  using db = new DatabaseSync(file, { timeout: 5_000 });
  const version = schemaVersion(db);
  if (version < movedVersion) db.exec(`PRAGMA user_version = ${movedVersion + version}`);
}

/** Tells whether a database file is marked as moved. */
export function isMoved(file: string): boolean {
  using db = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  return schemaVersion(db) >= movedVersion;
}

/** Throws `StartError` for the schema version of a file that is marked as moved. */
export function refuseMoved(file: string, version: number): void {
  if (version < movedVersion) return;
  throw new StartError(
    `The data in ${dirname(file)} was moved to the distributed form: start that one, or kith move again where it did not end.`,
  );
}
