import { randomUUID } from 'node:crypto';
import type { Relay } from '@kith/service';
import { availableEngines, createStore, type WatchedStore, waitFor, watchReads } from '@kith/testing';
import { Collection, MongoClient } from 'mongodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { holdRow } from '../../../tests/support/hold-row.ts';
import type { AppContext } from '../src/app.ts';
import { block, hiddenFrom, unblock } from '../src/blocks.ts';
import { countOfUserHandler } from '../src/operations/count-of-user.ts';
import { type ConnectionStore, openStore } from '../src/store/index.ts';
import { unknownUser } from '../src/unknown-user.ts';
import { connectAt, perform } from './support/pairs.ts';

// These tests run only on MongoDB. On SQLite, a change is one transaction, and its event has a row of its own.
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
  /**
   * Moves the clock forward. A reader completes an unfinished change only if the change is more than a second old, because
   * until then the writer may still complete it.
   */
  const aSecondLater = () => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 1_500 });

  /** Ann asks Bob. The database fails after the commit and before the rows are written. */
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
    const intents = await db.collection('totals').countDocuments({ 'pending.op': { $exists: true } });
    const pairs = await db.collection('pairs').countDocuments({ unsettled: { $exists: true } });
    expect(intents > 0).toBe(pairs > 0);
    return pairs;
  }

  const list = (ownerId: string, name: 'sent' | 'received') =>
    store.list({ projectId, ownerId, list: name, from: { skip: 0 }, limit: 10 });

  it.each(['sent', 'received'] as const)(
    'before the list %s is read, a committed change that was cut off is completed',
    async (name) => {
      await requestCutOff();
      aSecondLater();
      expect(await list(name === 'sent' ? ann : bob, name)).toMatchObject({ entries: [{}], total: 1 });
      expect(await unsettled()).toBe(0);
    },
  );

  it('before the next change, a committed change that was cut off is completed', async () => {
    await requestCutOff();
    await perform(store, { projectId, userId: bob, otherId: ann, action: 'accept' });
    expect(await list(bob, 'received')).toEqual({ entries: [], total: 0 });
    expect(await unsettled()).toBe(0);
  });

  it('the sweep completes a committed change that was cut off', async () => {
    await requestCutOff();
    await waitFor(async () => {
      await store.sweep();
      return (await unsettled()) === 0;
    });
  });

  it.each([
    ['block', block, 1],
    ['unblock', unblock, 0],
  ] as const)(
    'if the same %s is made twice at once, the second is answered only after the lists show the first',
    async (_, change, total) => {
      const app = { store, relay: { kick: () => {} } as Relay };
      [ann, bob] = [randomUUID(), randomUUID()];
      const of = { projectId, blockerId: ann, blockedId: bob };
      if (change === unblock) await block(app, of);
      const { held, release } = holdRow('entries', ann);
      const first = change(app, of);
      await held;
      const shown = async () => {
        await change(app, of);
        const { blocks } = await store.totals(projectId, ann);
        return {
          blocks,
          hidden: (await hiddenFrom(app, { projectId, userId: ann, deadline: Infinity })).size,
        };
      };
      expect(await shown().finally(release)).toEqual({ blocks: total, hidden: total });
      await first;
      expect(await shown()).toEqual({ blocks: total, hidden: total });
    },
  );

  describe('a connection with a hidden user', () => {
    let rea: string;
    /** Accepts Bob's request to Rea. */
    const accept = () => perform(store, { projectId, userId: rea, otherId: bob, action: 'accept' });
    /** Counts Rea's connections as Ann sees them. */
    const count = () =>
      countOfUserHandler.handle(
        { projectId, caller: { userId: ann }, params: { userId: rea } } as never,
        { store } as AppContext,
      );

    beforeEach(async () => {
      [ann, bob, rea] = [randomUUID(), randomUUID(), randomUUID()];
      await store.profiles.keep({ seq: 1, user: unknownUser(projectId, rea, new Date(0)) });
      const at = new Date();
      await connectAt(store, { projectId, userId: rea, otherId: randomUUID(), at });
      const app = { store, relay: { kick: () => {} } as Relay };
      await block(app, { projectId, blockerId: ann, blockedId: bob });
      await perform(store, { projectId, userId: bob, otherId: rea, action: 'request' });
    });

    it('is not counted while its rows are being written', async () => {
      const { held, release } = holdRow('entries', rea);
      const accepting = accept();
      await held;
      expect(await count().finally(release)).toEqual({ count: 1 });
      await accepting;
      expect(await count()).toEqual({ count: 1 });
    });

    it('is not counted if it is made during the count', async () => {
      const totals = store.totals.bind(store);
      vi.spyOn(store, 'totals').mockImplementationOnce(async (...of) => {
        await accept();
        return totals(...of);
      });
      expect(await count()).toEqual({ count: 1 });
    });
  });

  describe('the totals of a user whom a hundred users ask at the same time', () => {
    const crowd = 100;
    let star: string;
    let watched: WatchedStore;
    let reader: ConnectionStore;
    let asking: Promise<unknown>[];
    beforeAll(async () => {
      watched = await watchReads(place.config);
      reader = await openStore(watched.config);
    });
    afterAll(async () => {
      await reader?.close();
      await watched?.[Symbol.asyncDispose]();
    });

    /**
     * Makes three users ask, and then a hundred more. The requests of the hundred are committed, but the writes of their rows
     * are blocked. Returns a function that makes these writes fail.
     */
    async function beAsked(): Promise<() => void> {
      star = randomUUID();
      // The clock stands still. So for the readers, the changes stay recent, no matter how long this step takes.
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
      for (let n = 0; n < 3; n++) await ask();
      const gate = Promise.withResolvers<never>();
      const held = vi.spyOn(Collection.prototype, 'replaceOne').mockImplementation(() => gate.promise);
      asking = Array.from({ length: crowd }, () => ask().catch(() => undefined));
      await waitFor(() => held.mock.calls.length === 2 * crowd);
      held.mockRestore();
      return () => gate.reject(new Error('cut off'));
    }

    const ask = () => perform(store, { projectId, userId: randomUUID(), otherId: star, action: 'request' });
    const read = async () => {
      let total = -1;
      const trips = await watched.tripsOf(async () => {
        total = (await reader.totals(projectId, star)).received;
      });
      return { total, operations: trips.flat().length };
    };

    it('show all acknowledged requests with one query; each read completes at most 20 interrupted requests', async () => {
      const end = await beAsked();
      expect(await read()).toEqual({ total: 3, operations: 1 });
      end();
      await Promise.all(asking);
      aSecondLater();
      const first = await read();
      expect(first.total).toBe(3 + 20);
      expect(first.operations).toBeLessThan(200);
      for (let totals = first.total; totals < 3 + crowd; totals += 20) {
        expect((await read()).total).toBe(totals + 20);
      }
      expect(await read()).toEqual({ total: 3 + crowd, operations: 1 });
    });
  });

  it('keeps the document of a pair small while nobody publishes the pair’s events', async () => {
    const at = { projectId, userId: randomUUID(), otherId: randomUUID() };
    for (let round = 0; round < 10; round++) {
      await perform(store, { ...at, action: 'request' });
      await perform(store, { ...at, action: 'withdraw' });
    }
    const { database } = place.config as { database: string };
    const _id = { $regex: at.userId };
    const pair = await client.db(database).collection<{ _id: string }>('pairs').findOne({ _id });
    expect(pair).toMatchObject({ d: expect.stringContaining('"seq":20'), outbox: { length: 4 } });
  });
});
