import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { RecordedBlob } from '@kith/store/backup';
import { serviceBackups } from '../../services.ts';

/** Number of records that are read together. */
const atOnce = 1_000;

/**
 * The bytes of all files that are recorded in copied databases. If a file was stored after the database was copied, the copy
 * has no record of the file. The bytes of such files are left out, because nothing would ever remove them from a restored
 * platform.
 */
export async function* recordedFiles(fileOf: (service: string) => string): AsyncGenerator<RecordedBlob> {
  for (const { service, bytes } of serviceBackups) {
    const file = fileOf(service);
    if (!bytes || !existsSync(file)) continue;
    // The database is not opened read-only, because SQLite would then leave extra files beside it.
    using db = new DatabaseSync(file);
    const some = db.prepare(
      `SELECT id, doc FROM "${bytes.rows.name}" WHERE id > ? ORDER BY id LIMIT ${atOnce}`,
    );
    for (let after = '', hasMore = true; hasMore; ) {
      const rows = some.all(after);
      hasMore = rows.length === atOnce;
      after = String(rows.at(-1)?.id);
      for (const { id, doc } of rows) yield* bytes.of({ id: String(id), doc: JSON.parse(String(doc)) });
    }
  }
}
