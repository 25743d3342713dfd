import { DatabaseSync } from 'node:sqlite';
import type { StoreConfig } from '@kith/store';
import { openDocuments } from '@kith/store/open';
import { MongoClient } from 'mongodb';
import { type CollectionRecord, newCollection, type Owner } from '../../src/collection.ts';
import { importedId, importedRecord } from '../../src/imported.ts';
import { collections, declared, entities } from '../../src/store/collections.ts';
import { entityPlace } from '../../src/store/entity-place.ts';
import { openStore } from '../../src/store/index.ts';
import { placeOf } from '../../src/store/place.ts';
import { storedEntity, storedOf } from '../../src/store/record.ts';
import { erase } from './store-acts.ts';

/** How many collections and entities a store holds, including deleted ones. */
export interface Stored {
  collections: number;
  entities: number;
}

/** Counts the stored collections and entities of an owner directly in the database. */
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
 * Stores a collection whose parent is not stored. Below it, stores another collection, which holds an entity. Both collections
 * get the given name.
 */
export async function seedOrphan(config: StoreConfig, owner: Owner, name: string): Promise<void> {
  const documents = await openDocuments(config, declared);
  const top = newCollection(owner, { name, parent: newCollection(owner, { name: 'root', parent: null }) });
  const below = { ...newCollection(owner, { name, parent: top }), entityCount: 1 };
  const entity = { entityId: 'e', addedAt: Date.now(), metadata: { of: owner.userId } };
  const rows = [{ in: entities, id: entityPlace(below, entity), put: storedEntity(below, entity) }];
  const outcomes = await documents.change([
    { in: collections, target: placeOf(top), set: storedOf(top) },
    { in: collections, target: placeOf(below), set: storedOf(below), rows },
  ]);
  await documents.close();
  if (outcomes.some((outcome) => outcome !== 'made')) throw new Error('not stored');
}

/** Imports a collection below the root and deletes it, so that it is recorded as deleted. */
export async function deleteImported(config: StoreConfig, owner: Owner): Promise<void> {
  const store = await openStore(config);
  const id = importedId(owner, 'deleted');
  const parent = await store.root(owner);
  await store.imports.insert([importedRecord(owner, { id, name: 'x', parent, at: Date.now() })]);
  await erase(store, owner, id);
  await store.close();
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
