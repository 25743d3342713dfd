import { DatabaseSync } from 'node:sqlite';
import type { StoreConfig } from '@kith/store';
import { documentRow, movedDocuments } from '@kith/store/open';
import { MongoClient } from 'mongodb';
import { collectionsBackup } from '../../src/backup.ts';
import type { CollectionRecord } from '../../src/collection.ts';
import { collections, entities } from '../../src/store/collections.ts';
import { entityPlace } from '../../src/store/entity-place.ts';
import { placeOf } from '../../src/store/place.ts';
import { storedEntity, storedOf } from '../../src/store/record.ts';

/** Writes `count` entities of a collection into the database directly, in the store's format. Returns their ids, oldest first. */
export async function storeEntities(
  config: StoreConfig,
  collection: CollectionRecord,
  count: number,
): Promise<string[]> {
  const saved = Array.from({ length: count }, (_, at) => ({
    ...{ entityId: `entity ${at}`, addedAt: 1_000 * (at + 1), metadata: null },
  }));
  const rows = saved.map((one) =>
    documentRow(entities, entityPlace(collection, one), storedEntity(collection, one)),
  );
  const counted = { ...storedOf(collection), entityCount: count };
  rows.push(documentRow(collections, placeOf(collection), counted));
  if (config.kind === 'sqlite') {
    using db = new DatabaseSync(config.file, { timeout: 5_000 });
    db.exec('BEGIN');
    for (const { table, row } of rows) {
      const columns = Object.keys(row).map((name) => `"${name}"`);
      const values = columns.map(() => '?');
      db.prepare(`REPLACE INTO ${table} (${columns.join(', ')}) VALUES (${values.join(', ')})`).run(
        ...Object.values(row),
      );
    }
    db.exec('COMMIT');
  } else {
    await using client = new MongoClient(config.url);
    const db = client.db(config.database);
    const documents = (name: string) => {
      const moved = movedDocuments(collectionsBackup).tables.find(({ table }) => table === name);
      return rows.flatMap(({ table, row }) => (table === name && moved ? [moved.document(row)] : []));
    };
    const all = documents('entities');
    for (let at = 0; at < count; at += 5_000) {
      await db.collection<(typeof all)[number]>('entities').insertMany(all.slice(at, at + 5_000));
    }
    for (const { _id, ...rest } of documents('collections')) {
      await db.collection<{ _id: string | number }>('collections').replaceOne({ _id }, rest);
    }
  }
  return saved.map(({ entityId }) => entityId);
}
