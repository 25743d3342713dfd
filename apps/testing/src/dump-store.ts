import { DatabaseSync } from 'node:sqlite';
import type { StoreConfig } from '@kith/store';
import { MongoClient } from 'mongodb';

/** All data of a store, by table or collection. Reads the database directly, without the store's own code. */
export async function dumpStore(config: StoreConfig): Promise<Record<string, Record<string, unknown>[]>> {
  if (config.kind === 'mongo') return dumpMongo(config);
  using db = new DatabaseSync(config.file, { readOnly: true, timeout: 5_000 });
  const tables = db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all();
  return Object.fromEntries(
    tables.map(({ name }) => [
      name,
      db.prepare(`SELECT * FROM "${name}"`).all() as Record<string, unknown>[],
    ]),
  );
}

async function dumpMongo(config: StoreConfig & { kind: 'mongo' }) {
  await using client = new MongoClient(config.url);
  const db = client.db(config.database);
  const dump: Record<string, Record<string, unknown>[]> = {};
  for (const { name } of await db.listCollections().toArray()) {
    dump[name] = await db.collection(name).find().toArray();
  }
  return dump;
}
