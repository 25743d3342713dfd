import { DatabaseSync } from 'node:sqlite';
import { StartError } from '@kith/base';
import { type Blobs, type BlobsConfig, openBlobs } from '@kith/store/blobs';
import { serviceBackups } from '../../services.ts';

/** Maximum number of files that are looked up. */
const most = 100;

/**
 * Checks whether `place` has the bytes of the files that the copied databases name. If there are many files, checks only some
 * of them, evenly spread. If it finds no bytes and `place` is empty, throws `StartError`, because the files of the platform are
 * then certainly in another place. If only some bytes are missing, prints a warning: these bytes may be lost, or were deleted
 * after the databases were copied.
 */
export async function checkFiles(
  fileOf: (service: string) => string,
  place: BlobsConfig,
  progress: (line: string) => void,
): Promise<void> {
  const blobs = await openBlobs(place, { readOnly: true });
  try {
    const prefixes = serviceBackups.flatMap((service) => someFiles(service, fileOf(service.service)));
    let missing = 0;
    for (const prefix of prefixes) if (!(await hasAny(blobs, prefix))) missing += 1;
    if (missing === 0) return;
    if (missing === prefixes.length && !(await hasAny(blobs))) {
      throw new StartError(
        `The platform has files, but their bytes are not in ${nameOf(place)}; set STORAGE_URL to the value that the platform uses.`,
      );
    }
    progress(
      `warning: for ${missing} of ${prefixes.length} files, the bytes are not in ${nameOf(place)}; the files were deleted meanwhile, or their bytes are lost, or STORAGE_URL is wrong`,
    );
  } finally {
    await blobs.close();
  }
}

/** Picks some of the files, and returns for each of them the prefix that the keys of its bytes have in common. */
function someFiles({ bytes }: (typeof serviceBackups)[number], file: string): string[] {
  if (!bytes) return [];
  // The database is not opened read-only, because SQLite would then leave extra files beside it.
  using db = new DatabaseSync(file);
  const table = `"${bytes.rows.name}"`;
  const count = Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n);
  const every = db.prepare(
    `SELECT id, doc FROM ${table} WHERE id IN
       (SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) AS at FROM ${table}) WHERE at % ? = 0)`,
  );
  const rows = every.all(Math.max(1, Math.ceil(count / most)));
  return rows.map(({ id, doc }) => bytes.below({ id: String(id), doc: JSON.parse(String(doc)) }));
}

async function hasAny(blobs: Blobs, prefix?: string): Promise<boolean> {
  for await (const _ of blobs.list(prefix)) return true;
  return false;
}

function nameOf(place: BlobsConfig): string {
  if (place.kind === 'folder') return place.folder;
  return place.kind === 's3' ? 'the bucket' : 'GridFS';
}
