import { DatabaseSync } from 'node:sqlite';
import { serviceBackups } from '../../services.ts';
import type { Count } from '../counts.ts';

/** Counts the documents of each collection in the services' files. */
export function countDocuments(fileOf: (service: string) => string): Count[] {
  return serviceBackups.flatMap(({ service, declared }) => {
    // The database is not opened read-only, because SQLite would then leave extra files beside it.
    using db = new DatabaseSync(fileOf(service));
    // A backup of an earlier version lacks collections that came later.
    const has = db.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`);
    const there = declared.collections.filter(({ name }) => has.get(name) !== undefined);
    return there.map(({ name: collection }) => {
      const documents = Number(db.prepare(`SELECT count(*) AS n FROM "${collection}"`).get()?.n);
      return { service, collection, documents };
    });
  });
}
