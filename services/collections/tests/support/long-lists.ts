import { DatabaseSync } from 'node:sqlite';
import type { StoreConfig } from '@kith/service';
import { MongoClient } from 'mongodb';
import type { CollectionRecord } from '../../src/collection.ts';
import { entityPlace, savedKey } from '../../src/store/entity-place.ts';
import { toRow } from '../../src/store/mongo-entities.ts';
import { placeOf } from '../../src/store/place.ts';

/** Saves so many entities in a collection as the store lays them down, past it, and gives their ids, oldest first. */
export async function storeEntities(
  config: StoreConfig,
  collection: CollectionRecord,
  count: number,
): Promise<string[]> {
  const entities = Array.from({ length: count }, (_, at) => ({
    entityId: `entity ${at}`,
    addedAt: 1_000 * (at + 1),
    metadata: null,
  }));
  if (config.kind === 'sqlite') {
    using db = new DatabaseSync(config.file, { timeout: 5_000 });
    const insert = db.prepare(`INSERT INTO entities VALUES (?, ?, ?, ?, ?, 'null')`);
    db.exec('BEGIN');
    for (const entity of entities) {
      const { entityId, addedAt } = entity;
      const saved = savedKey(collection, entityId);
      insert.run(entityPlace(collection, entity), saved, collection.id, entityId, addedAt);
    }
    db.prepare('UPDATE collections SET entity_count = ? WHERE place = ?').run(count, placeOf(collection));
    db.exec('COMMIT');
  } else {
    await using client = new MongoClient(config.url);
    const db = client.db(config.database);
    const rows = entities.map((entity) => ({
      _id: entityPlace(collection, entity),
      ...toRow(collection, entity),
      rev: 1,
    }));
    for (let at = 0; at < count; at += 5_000) {
      await db.collection<{ _id: string }>('entities').insertMany(rows.slice(at, at + 5_000));
    }
    const collections = db.collection<{ _id: string }>('collections');
    await collections.updateOne({ _id: placeOf(collection) }, { $set: { entityCount: count } });
  }
  return entities.map(({ entityId }) => entityId);
}
