import { DatabaseSync } from 'node:sqlite';
import type { StoreConfig } from '@kith/store';
import { MongoClient } from 'mongodb';

/** The names of the parts of an id, by table or collection. */
const idParts: Readonly<Record<string, readonly string[]>> = {
  users: ['projectId', 'userId'],
  sessions: ['projectId', 'userId', 'place', 'sid'],
};

/**
 * Reads everything that a store holds, by table or collection, without the store's own code. The fields of a row's document are
 * returned as fields of the row.
 */
export async function dumpStore(config: StoreConfig): Promise<Record<string, Record<string, unknown>[]>> {
  if (config.kind === 'mongo') return dumpMongo(config);
  using db = new DatabaseSync(config.file);
  const tables = db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all() as {
    name: string;
  }[];
  return Object.fromEntries(
    tables.map(({ name }) => [
      name,
      db
        .prepare(`SELECT * FROM ${name}`)
        .all()
        .map((row) => opened(name, String(row.id), row)),
    ]),
  );
}

async function dumpMongo(config: StoreConfig & { kind: 'mongo' }) {
  await using client = new MongoClient(config.url);
  const db = client.db(config.database);
  const dump: Record<string, Record<string, unknown>[]> = {};
  for (const { name } of await db.listCollections().toArray()) {
    const found = await db.collection(name).find().toArray();
    dump[name] = found.map((row) => opened(name, String(row._id), row));
  }
  return dump;
}

function opened(name: string, id: string, row: Record<string, unknown>): Record<string, unknown> {
  const text = row.doc ?? row.d;
  const parts = id.split('|');
  const said = Object.fromEntries((idParts[name] ?? []).map((part, at) => [part, parts[at]]));
  return { ...row, ...said, ...(typeof text === 'string' && JSON.parse(text)) };
}

/** Removes a user's document, and nothing else of the user. `id` is the user's `userKey`. */
export async function removeUserDocument(config: StoreConfig, id: string): Promise<void> {
  if (config.kind === 'mongo') {
    await using client = new MongoClient(config.url);
    await client.db(config.database).collection<{ _id: string }>('users').deleteOne({ _id: id });
    return;
  }
  using db = new DatabaseSync(config.file);
  db.prepare('DELETE FROM users WHERE id = ?').run(id);
}

/** Moves the stored time of each rotation back by `ms`, so that the refresh tokens seem to have been rotated earlier. */
export async function ageRotations(config: StoreConfig, ms: number): Promise<void> {
  if (config.kind === 'mongo') {
    await using client = new MongoClient(config.url);
    const sessions = client.db(config.database).collection('sessions');
    const changedAt = { $subtract: ['$changedAt', ms] };
    await sessions.updateMany({ changedAt: { $exists: true } }, [{ $set: { changedAt } }]);
    return;
  }
  using db = new DatabaseSync(config.file);
  db.prepare('UPDATE sessions SET changed = changed - ?').run(ms);
}
