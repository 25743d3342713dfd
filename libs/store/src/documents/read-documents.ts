import { DatabaseSync } from 'node:sqlite';
import { asDeclared, type Collection } from './collection.ts';
import type { Stored } from './documents.ts';
import type { StoreConfig } from './store-config.ts';

/**
 * Reads all documents of a small collection, in the order of their ids, and changes nothing. A collection that does not exist yet
 * has no documents. Rejects when the database cannot be read.
 */
export async function readDocuments<D>(config: StoreConfig, of: Collection<D>): Promise<Stored<D>[]> {
  if (config.kind === 'sqlite') return readFile(config.file, of);
  // The driver is loaded only when it is needed, because the embedded form works without it (docs/adr/0043).
  const { readMongo } = await import('./examine-mongo.ts');
  return readMongo(config, of);
}

function readFile<D>(file: string, of: Collection<D>): Stored<D>[] {
  using db = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  if (!db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(of.name)) return [];
  const rows = db.prepare(`SELECT id, shape, doc FROM "${of.name}" ORDER BY id`).all();
  return rows.map(({ id, shape, doc }) => ({
    id: String(id),
    doc: asDeclared(of, JSON.parse(String(doc)), Number(shape)),
  }));
}
