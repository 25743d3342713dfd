import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { MovedTable, StoreConfig } from '@kith/service';
import { type Document, MongoClient } from 'mongodb';
import type { Layout, SeedRow } from './layout.ts';

const chunk = 5_000;
/** Chunks on their way to MongoDB at once. */
const atOnce = 2;

/** Stores a layout's rows past the service, as its store lays them down, and tells how many there are. */
export async function seed(config: StoreConfig, layout: Layout): Promise<number> {
  if (config.kind === 'mongo') return seedMongo(config, layout);
  await layout.move.prepare(config);
  return seedSqlite(config.file, layout.rows());
}

function seedSqlite(file: string, rows: Iterable<SeedRow>): number {
  using db = new DatabaseSync(file);
  db.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; BEGIN');
  const inserts = new Map<string, StatementSync>();
  let count = 0;
  for (const { table, row } of rows) {
    let insert = inserts.get(table);
    if (!insert) {
      const columns = Object.keys(row);
      const values = columns.map(() => '?').join(', ');
      insert = db.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${values})`);
      inserts.set(table, insert);
    }
    insert.run(...(Object.values(row) as SQLInputValue[]));
    if (++count % 50_000 === 0) db.exec('COMMIT; BEGIN');
  }
  db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
  return count;
}

/** Documents are what moving makes of the rows. The indexes come last: each would cost every insert. */
async function seedMongo(config: StoreConfig & { kind: 'mongo' }, layout: Layout): Promise<number> {
  await using client = new MongoClient(config.url);
  const db = client.db(config.database);
  const tables = new Map<string, MovedTable>(layout.move.tables.map((one) => [one.table, one]));
  const waiting = new Map<string, Document[]>();
  const under = new Set<Promise<unknown>>();
  const send = async (collection: string, documents: Document[]) => {
    while (under.size >= atOnce) await Promise.race(under);
    const sent = db
      .collection(collection)
      .insertMany(documents, { ordered: false, writeConcern: { w: 1 } })
      .finally(() => under.delete(sent));
    under.add(sent);
  };
  let count = 0;
  for (const { table, row } of layout.rows()) {
    const moved = tables.get(table);
    if (!moved) throw new Error(`Nothing says what becomes of the table ${table}.`);
    const documents = waiting.get(moved.collection) ?? [];
    documents.push(moved.document(row));
    count++;
    if (documents.length < chunk) {
      waiting.set(moved.collection, documents);
      continue;
    }
    waiting.delete(moved.collection);
    await send(moved.collection, documents);
  }
  for (const [collection, documents] of waiting) await send(collection, documents);
  await Promise.all(under);
  await layout.move.prepare(config);
  return count;
}
