import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { StoreConfig } from '@kith/store';
import type { MovedRow, MovedTable, ServiceMove } from '@kith/store/open';
import { type Document, MongoClient } from 'mongodb';

/** A row of a service's table, as the service's store keeps it on SQLite. */
export interface StoredRow {
  table: string;
  row: MovedRow;
}

const chunk = 5_000;
/** How many chunks are being sent to MongoDB at the same time. */
const atOnce = 2;

/** Stores rows without running the service, in the form that the service's store uses. Returns the number of rows. */
export async function fillStore(
  config: StoreConfig,
  move: ServiceMove,
  rows: Iterable<StoredRow>,
): Promise<number> {
  if (config.kind === 'mongo') return fillMongo(config, move, rows);
  await move.prepare(config);
  return fillSqlite(config.file, rows);
}

function fillSqlite(file: string, rows: Iterable<StoredRow>): number {
  using db = new DatabaseSync(file);
  db.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; BEGIN');
  const inserts = new Map<string, StatementSync>();
  let count = 0;
  for (const { table, row } of rows) {
    let insert = inserts.get(table);
    if (!insert) {
      const columns = Object.keys(row).map((name) => `"${name}"`);
      const values = columns.map(() => '?').join(', ');
      insert = db.prepare(`INSERT INTO "${table}" (${columns.join(', ')}) VALUES (${values})`);
      inserts.set(table, insert);
    }
    insert.run(...(Object.values(row) as SQLInputValue[]));
    if (++count % 50_000 === 0) db.exec('COMMIT; BEGIN');
  }
  db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
  return count;
}

/**
 * Turns the rows into the documents that `kith move` would make. Creates the indexes only after all inserts, because each index
 * would slow down every insert.
 */
async function fillMongo(
  config: StoreConfig & { kind: 'mongo' },
  move: ServiceMove,
  rows: Iterable<StoredRow>,
): Promise<number> {
  await using client = new MongoClient(config.url);
  const db = client.db(config.database);
  const tables = new Map<string, MovedTable>(move.tables.map((one) => [one.table, one]));
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
  for (const { table, row } of rows) {
    const moved = tables.get(table);
    if (!moved) throw new Error(`The table ${table} has no counterpart in MongoDB.`);
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
  await move.prepare(config);
  return count;
}
