import type { DatabaseSync } from 'node:sqlite';

/** The names of a database's tables and indexes. */
export function tablesOf(db: DatabaseSync): Set<unknown> {
  return new Set(
    db
      .prepare('SELECT name FROM sqlite_schema')
      .all()
      .map(({ name }) => name),
  );
}
