import { MongoClient } from 'mongodb';
import type { Collection, Declared } from './collection.ts';
import type { Stored } from './documents.ts';
import type { Examined } from './examined.ts';
import { isThere, type MongoDocument, readOf } from './mongo-collection.ts';
import { schemaOf } from './mongo-schema.ts';
import type { StoreConfig } from './store-config.ts';

const patienceMs = 3_000;
/** NamespaceNotFound: the collection is not there. */
const noCollection = 26;

type MongoConfig = Extract<StoreConfig, { kind: 'mongo' }>;

/** Implements {@link examineDocuments} for a database on a server. */
export async function examineMongo({ url, database }: MongoConfig, declared: Declared): Promise<Examined> {
  await using client = await connect(url);
  const db = client.db(database);
  const admin = client.db('admin');
  const asked = Date.now();
  const { localTime } = await admin.command({ hello: 1 });
  const aheadMs = localTime instanceof Date ? localTime.getTime() - (asked + Date.now()) / 2 : 0;
  const { version } = await admin.command({ buildInfo: 1 });
  const { authInfo } = await admin.command({ connectionStatus: 1 });
  const missing: string[] = [];
  for (const [name, indexes] of Object.entries(schemaOf(declared).collections)) {
    const listed = await db
      .collection(name)
      .indexes()
      .catch((error: { code?: unknown }) => {
        if (error.code === noCollection) return [];
        throw error;
      });
    const there = new Set(listed.map((index) => index.name));
    for (const index of indexes) if (!there.has(index.name)) missing.push(`${name} ${index.name}`);
  }
  const asksWho = (authInfo?.authenticatedUsers ?? []).length > 0;
  return { missing, damage: undefined, server: { version, aheadMs, asksWho } };
}

/** Implements {@link readDocuments} for a database on a server. */
export async function readMongo<D>({ url, database }: MongoConfig, of: Collection<D>): Promise<Stored<D>[]> {
  await using client = await connect(url);
  const stored = client.db(database).collection<MongoDocument>(of.name);
  const found = await stored.find(isThere, { sort: { _id: 1 } }).toArray();
  return found.map((one) => readOf(of, one));
}

function connect(url: string): Promise<MongoClient> {
  const times = { serverSelectionTimeoutMS: patienceMs, connectTimeoutMS: patienceMs };
  return new MongoClient(url, { ...times, socketTimeoutMS: 10 * patienceMs }).connect();
}
