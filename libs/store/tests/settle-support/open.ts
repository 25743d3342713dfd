import { availableEngines, createStore } from '@kith/testing';
import { type Db, MongoClient } from 'mongodb';
import { makeWorld } from './world.ts';

/** Whether the tests can use MongoDB. Only changes on MongoDB are settled, because the embedded store has transactions. */
export const hasMongo = availableEngines().includes('containers');

export interface World extends AsyncDisposable {
  db: Db;
  url: string;
  database: string;
  /** Opens a separate connection, as another process would. */
  another(): Promise<Db>;
}

/** Opens a new database with lamps in it. */
export async function openWorld(): Promise<World> {
  await using undo = new AsyncDisposableStack();
  const { config } = undo.use(await createStore('containers'));
  if (config.kind !== 'mongo') throw new Error('a MongoDB is needed');
  const { url, database } = config;
  const another = async () => kept.use(await new MongoClient(url).connect()).db(database);
  const db = undo.use(await new MongoClient(url).connect()).db(database);
  await makeWorld(db);
  const kept = undo.move();
  return { db, url, database, another, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
