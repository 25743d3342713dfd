import { DatabaseSync } from 'node:sqlite';
import { serviceBackups } from '../../services.ts';
import type { Count } from '../counts.ts';

/** How many documents of each collection the files of services hold. */
export function countDocuments(fileOf: (service: string) => string): Count[] {
  return serviceBackups.flatMap(({ service, declared }) => {
    // Not opened read-only: that would leave extra files beside it.
    using db = new DatabaseSync(fileOf(service));
    return declared.collections.map(({ name: collection }) => {
      const documents = Number(db.prepare(`SELECT count(*) AS n FROM "${collection}"`).get()?.n);
      return { service, collection, documents };
    });
  });
}
