import { randomUUID } from 'node:crypto';
import { availableEngines, createStore, waitFor } from '@kith/testing';
import { Collection, MongoClient } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ConnectionStore, openStore } from '../src/store/index.ts';
import { perform } from './support/pairs.ts';

// On SQLite a change is one transaction, its event a row of its own.
describe.skipIf(!availableEngines().includes('containers'))('pairs on MongoDB', () => {
  let place: Awaited<ReturnType<typeof createStore>>;
  let store: ConnectionStore;
  let client: MongoClient;
  const projectId = randomUUID();
  let ann: string;
  let bob: string;
  beforeAll(async () => {
    place = await createStore('containers');
    if (place.config.kind !== 'mongo') throw new Error('a MongoDB is needed');
    store = await openStore(place.config);
    client = await new MongoClient(place.config.url).connect();
  });
  afterAll(async () => {
    await client.close();
    await store.close();
    await place[Symbol.asyncDispose]();
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** Ann asks Bob, and the database is lost between the commit and the rows. */
  async function requestCutOff(): Promise<void> {
    [ann, bob] = [randomUUID(), randomUUID()];
    const lost = vi.spyOn(Collection.prototype, 'replaceOne').mockRejectedValue(new Error('cut off'));
    const requesting = perform(store, { projectId, userId: ann, otherId: bob, action: 'request' });
    await expect(requesting).rejects.toThrow('cut off');
    lost.mockRestore();
    expect(await unsettled()).toBe(1);
  }

  async function unsettled(): Promise<number> {
    if (place.config.kind !== 'mongo') return 0;
    const db = client.db(place.config.database);
    const intents = await db.collection('heads').countDocuments({ 'pending.op': { $exists: true } });
    const pairs = await db.collection('pairs').countDocuments({ unsettled: { $exists: true } });
    expect(intents > 0).toBe(pairs > 0);
    return pairs;
  }

  const list = (ownerId: string, name: 'sent' | 'received') =>
    store.list({ projectId, ownerId, list: name, from: { skip: 0 }, limit: 10 });

  it.each(['sent', 'received'] as const)(
    'a change cut off after its commit is whole for who reads the list %s',
    async (name) => {
      await requestCutOff();
      expect(await list(name === 'sent' ? ann : bob, name)).toMatchObject({ entries: [{}], total: 1 });
      expect(await unsettled()).toBe(0);
    },
  );

  it('a change cut off after its commit is whole before the next one', async () => {
    await requestCutOff();
    await perform(store, { projectId, userId: bob, otherId: ann, action: 'accept' });
    expect(await list(bob, 'received')).toEqual({ entries: [], total: 0 });
    expect(await unsettled()).toBe(0);
  });

  it('a change cut off after its commit is put right by the sweep', async () => {
    await requestCutOff();
    await waitFor(async () => {
      await store.sweep();
      return (await unsettled()) === 0;
    });
  });

  it('keeps a pair small whose events nobody takes', async () => {
    const at = { projectId, userId: randomUUID(), otherId: randomUUID() };
    for (let round = 0; round < 10; round++) {
      await perform(store, { ...at, action: 'request' });
      await perform(store, { ...at, action: 'withdraw' });
    }
    const { database } = place.config as { database: string };
    const _id = { $regex: at.userId };
    const pair = await client.db(database).collection<{ _id: string }>('pairs').findOne({ _id });
    expect(pair).toMatchObject({ seq: 20, outbox: { length: 4 } });
  });
});
