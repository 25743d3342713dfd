import { DatabaseSync } from 'node:sqlite';
import type { StoreConfig } from '@kith/store';
import { MongoClient } from 'mongodb';
import { type CollectionRecord, newCollection, type Owner } from '../../src/collection.ts';
import { openStore } from '../../src/store/index.ts';

/** How many collections and entities a store holds, including deleted ones. */
export interface Stored {
  collections: number;
  entities: number;
}

/** Counts, in the database itself, what is stored of an owner. */
export async function countStored(config: StoreConfig, owner: Owner): Promise<Stored> {
  const { projectId, userId } = owner;
  const [from, to] = [`${projectId}|${userId}|`, `${projectId}|${userId}}`];
  if (config.kind === 'sqlite') {
    const db = new DatabaseSync(config.file, { readOnly: true, timeout: 5_000 });
    const count = (table: string, key: string) =>
      Number(
        db.prepare(`SELECT count(*) AS n FROM ${table} WHERE ${key} > ? AND ${key} < ?`).get(from, to)?.n,
      );
    const stored = { collections: count('collections', 'id'), entities: count('entities', '"by saved"') };
    db.close();
    return stored;
  }
  await using client = new MongoClient(config.url);
  const db = client.db(config.database);
  return {
    collections: await db
      .collection<{ _id: string }>('collections')
      .countDocuments({ _id: { $gt: from, $lt: to } }),
    entities: await db.collection('entities').countDocuments({ 'k.saved': { $gt: from, $lt: to } }),
  };
}

/**
 * Stores `levels` levels of collections below another collection, with `width` collections on each level. All collections of a
 * level are below the first collection of the level above.
 */
export async function seedBelow(
  config: StoreConfig,
  owner: Owner,
  options: { parentId: string; width: number; levels: number },
): Promise<CollectionRecord[]> {
  const store = await openStore(config);
  const found = await store.find(owner, options.parentId);
  if (!found) throw new Error('no parent');
  let parent = found;
  const made: CollectionRecord[] = [];
  for (let level = 0; level < options.levels; level++) {
    const siblings = Array.from({ length: options.width }, () => newCollection(owner, { name: 'x', parent }));
    made.push(...siblings);
    parent = siblings[0] ?? parent;
  }
  for (let at = 0; at < made.length; at += 1_000) {
    const outcomes = await store.imports.insert(made.slice(at, at + 1_000));
    if (outcomes.some((outcome) => outcome !== 'stored')) throw new Error('not stored');
  }
  await store.close();
  return made;
}
