import { randomUUID } from 'node:crypto';
import { collectionCreated } from '@kith/contracts';
import { availableEngines, createStore } from '@kith/testing';
import { Collection } from 'mongodb';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { collectionEvent, newCollection } from '../src/collection.ts';
import { openStore } from '../src/store/index.ts';
import { runDying } from './support/dying.ts';
import { countStored } from './support/raw.ts';
import { erase, makeBelow, purgeAll, save } from './support/store-acts.ts';

// Starts no platform and at most 1 process.

// These tests run only on MongoDB. On SQLite, a change is one transaction and is never half done.
describe.skipIf(!availableEngines().includes('containers'))('a purge and late writes', () => {
  const owner = { projectId: randomUUID(), userId: randomUUID() };
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test('the purge leaves no collection below a purged collection, even if a request is just making one there', async () => {
    await using place = await createStore('containers');
    const store = await openStore(place.config);
    const root = await makeBelow(store, owner, null);
    const top = await makeBelow(store, owner, root.id);
    const parent = await makeBelow(store, owner, top.id);
    const insertMany = Collection.prototype.insertMany;
    // Between the check of the parent and the write, somebody else deletes everything below the root.
    const late = vi.spyOn(Collection.prototype, 'insertMany').mockImplementationOnce(async function (
      this: InstanceType<typeof Collection>,
      ...args
    ) {
      await erase(store, owner, top.id);
      await purgeAll(store);
      return insertMany.apply(this, args);
    });
    const orphan = newCollection(owner, { name: 'late', parent });
    expect(await store.insert(orphan, collectionEvent(collectionCreated, orphan))).toBe(false);
    late.mockRestore();
    expect(await countStored(place.config, owner)).toEqual({ collections: 1, entities: 0 });
    expect((await store.outbox.unpublished(1_000)).map(({ event }) => event.aggregate.id)).not.toContain(
      orphan.id,
    );

    // If a process dies while it makes a collection, the collection does not come into existence. The sweep removes the
    // unfinished document after a while.
    const { config } = place;
    const end = await runDying({
      store: config,
      ...owner,
      act: 'create',
      collectionId: root.id,
      dieBeforeWrite: 2,
    });
    expect(end).toEqual({ killed: true, acknowledged: false });
    expect(await countStored(config, owner)).toEqual({ collections: 2, entities: 0 });
    expect(await store.children(owner, root.id, { after: null, limit: 9 })).toEqual([]);
    await store.sweep();
    expect(await countStored(config, owner)).toEqual({ collections: 2, entities: 0 });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 71 * 60_000 });
    await store.sweep();
    vi.useRealTimers();
    expect(await countStored(config, owner)).toEqual({ collections: 1, entities: 0 });
    await store.close();
  });

  test('a change that was committed before the purge does not undo the purge when it writes its row', async () => {
    await using place = await createStore('containers');
    const store = await openStore(place.config);
    const root = await makeBelow(store, owner, null);
    const top = await makeBelow(store, owner, root.id);
    const parent = await makeBelow(store, owner, top.id);
    const replaceOne = Collection.prototype.replaceOne;
    // The change is committed, but its row is not written yet. Just then, somebody else deletes everything below the root.
    const late = vi.spyOn(Collection.prototype, 'replaceOne').mockImplementationOnce(async function (
      this: InstanceType<typeof Collection>,
      ...args
    ) {
      await erase(store, owner, top.id);
      await purgeAll(store);
      return replaceOne.apply(this, args);
    });
    expect(await save(store, owner, parent.id, 'late')).toBe(true);
    late.mockRestore();
    await purgeAll(store);
    expect(await countStored(place.config, owner)).toEqual({ collections: 1, entities: 0 });
    expect(await store.holding(owner, 'late')).toEqual([]);
    await store.close();
  });
});
