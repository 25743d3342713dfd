import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { storeOf } from '@kith/service';
import type { RecordedBlob, ServiceBackup } from '@kith/store/backup';
import { openDocuments } from '@kith/store/open';
import { serviceBackups } from '../../services.ts';

interface Platform {
  MONGODB_URL?: string | undefined;
  KITH_PREFIX: string;
  KITH_DATA: string;
}

interface Bytes {
  of: NonNullable<ServiceBackup['bytes']>['of'];
  /** Resolves to the content of a row, or to `undefined` if the row does not exist. */
  find(id: string): Promise<unknown>;
}

/**
 * The files that a platform has now. A file may have been deleted since its record was copied. Opens the platform's databases
 * when the first file is looked up.
 */
export class LiveFiles implements AsyncDisposable {
  readonly #platform: Platform;
  readonly #opened = new AsyncDisposableStack();
  #bytes: Promise<Bytes[]> | undefined;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** Whether the platform still has the file to which a blob belongs. */
  async has({ rowId: id, key }: RecordedBlob): Promise<boolean> {
    this.#bytes ??= this.#open();
    for (const { of, find } of await this.#bytes) {
      const doc = await find(id);
      // An import may have stored other bytes under the same id.
      if (doc !== undefined && of({ id, doc }).some((blob) => blob.key === key)) return true;
    }
    return false;
  }

  /** Leaves out the blobs of files that the platform no longer has. */
  async *those(blobs: AsyncIterable<RecordedBlob>): AsyncGenerator<RecordedBlob> {
    for await (const blob of blobs) if (await this.has(blob)) yield blob;
  }

  async #open(): Promise<Bytes[]> {
    const { MONGODB_URL, KITH_PREFIX, KITH_DATA } = this.#platform;
    const all: Bytes[] = [];
    for (const { service, declared, bytes } of serviceBackups) {
      if (!bytes) continue;
      const { rows, of } = bytes;
      if (MONGODB_URL) {
        const store = storeOf(service, { MONGODB_URL, KITH_PREFIX });
        const documents = this.#opened.adopt(await openDocuments(store, declared), (one) => one.close());
        all.push({ of, find: async (id) => (await documents.get(rows, [id])).get(id)?.doc });
      } else {
        // A store would also create tables, and truncate the log of the database, while the platform uses it.
        const file = join(KITH_DATA, `${service}.sqlite`);
        const db = this.#opened.adopt(new DatabaseSync(file, { timeout: 5_000 }), (one) => one.close());
        const find = db.prepare(`SELECT doc FROM "${rows.name}" WHERE id = ?`);
        all.push({
          of,
          async find(id) {
            const row = find.get(id);
            return row && JSON.parse(String(row.doc));
          },
        });
      }
    }
    return all;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.disposeAsync();
  }
}
