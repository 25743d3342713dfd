import { randomUUID } from 'node:crypto';
import { openDocuments } from '@kith/store/open';
import { createRuntime, createStore, handlerEngines, waitFor } from '@kith/testing';
import { describe, expect, test } from 'vitest';
import { startCollections } from '../src/index.ts';
import { collections, declared } from '../src/store/collections.ts';
import { openStore } from '../src/store/index.ts';
import { placeOf } from '../src/store/place.ts';
import { runDying } from './support/dying.ts';
import { countStored, deleteImported, seedBelow } from './support/raw.ts';
import { erase, makeBelow, purgeAll, save } from './support/store-acts.ts';

// Starts no platform and at most 20 processes.

describe.each(handlerEngines())('the purge (%s)', (engine) => {
  const owner = { projectId: randomUUID(), userId: randomUUID() };

  test('continues after a process has died during the purge', { timeout: 120_000 }, async () => {
    await using place = await createStore(engine);
    const store = await openStore(place.config);
    const root = await makeBelow(store, owner, null);
    const kept = await makeBelow(store, owner, root.id);
    await save(store, owner, kept.id, 'e');
    const top = await makeBelow(store, owner, root.id);
    const made = await seedBelow(place.config, owner, { parentId: top.id, width: 300, levels: 10 });
    for (let index = 0; index < made.length; index += 100) {
      expect(await save(store, owner, made[index]?.id ?? '', 'e')).toBe(true);
    }
    await erase(store, owner, top.id);
    await store.outbox.unpublished(1_000);
    const sizes = [(await countStored(place.config, owner)).collections];
    expect(sizes[0]).toBe(3_003);
    const work = { store: place.config, ...owner, act: 'purge', collectionId: top.id } as const;
    for (const dieBeforeWrite of [1, 2, 3, 4, 5, 7]) {
      expect((await runDying({ ...work, dieBeforeWrite })).killed).toBe(true);
      sizes.push((await countStored(place.config, owner)).collections);
      expect((await store.holding(owner, 'e')).map(({ id }) => id)).toEqual([kept.id]);
      expect(await store.find(owner, made.at(-1)?.id ?? '')).toBeNull();
    }
    expect(sizes.at(-1)).toBeGreaterThan(2);
    await using runtime = await createRuntime(engine);
    await using _service = await startCollections(runtime, { store: place.config });
    await waitFor(async () => (await countStored(place.config, owner)).collections === 2, {
      timeoutMs: 60_000,
    });
    expect(await countStored(place.config, owner)).toEqual({ collections: 2, entities: 1 });
    expect(await store.children(owner, root.id, { after: null, limit: 9 })).toMatchObject([{ id: kept.id }]);
    await store.close();
  });

  test('erases more entities of one collection than one step can erase', async () => {
    await using place = await createStore(engine);
    const store = await openStore(place.config);
    const root = await makeBelow(store, owner, null);
    const collection = await makeBelow(store, owner, root.id);
    const count = 520;
    const entities = Array.from({ length: count }, (_, index) => ({
      entityId: `entity ${index}`,
      addedAt: Date.now(),
      metadata: null,
    }));
    expect(await store.imports.save([{ collection, entities }])).toEqual([[]]);
    expect((await countStored(place.config, owner)).entities).toBe(count);
    await erase(store, owner, collection.id);
    await purgeAll(store);
    expect(await countStored(place.config, owner)).toEqual({ collections: 1, entities: 0 });
    await store.close();
  });

  test('erases orphans, and the process handles other work while it looks for them', async () => {
    await using place = await createStore(engine);
    const store = await openStore(place.config);
    const root = await makeBelow(store, owner, null);
    const top = await makeBelow(store, owner, root.id);
    await seedBelow(place.config, owner, { parentId: top.id, width: 1_100, levels: 1 });
    await deleteImported(place.config, owner);
    await purgeAll(store);
    const documents = await openDocuments(place.config, declared);
    expect(await documents.erase(collections, placeOf(top))).toBe(true);
    await documents.close();
    expect(await countStored(place.config, owner)).toEqual({ collections: 1_101, entities: 0 });
    /** Whether the process handles other work while `work` is running. */
    const isFreeDuring = async (work: Promise<void>) => {
      let isFree = false;
      setImmediate(() => {
        isFree = true;
      });
      await work;
      return isFree;
    };
    expect(await isFreeDuring(store.deleteOrphans(owner))).toBe(true);
    expect(await isFreeDuring(store.forgetEnded(owner))).toBe(true);
    await purgeAll(store);
    expect(await countStored(place.config, owner)).toEqual({ collections: 1, entities: 0 });
    await store.close();
  });

  test('keeps collections that have unpublished events', async () => {
    await using place = await createStore(engine);
    const store = await openStore(place.config);
    const root = await makeBelow(store, owner, null);
    const top = await makeBelow(store, owner, root.id);
    const below = await makeBelow(store, owner, top.id);
    await erase(store, owner, top.id);
    while (await store.purge());
    const events = await store.outbox.unpublished(1_000);
    const told = events.map(({ event }) => `${event.type} ${event.aggregate.id}`);
    expect(told.sort()).toEqual(
      [
        `collection.created ${root.id}`,
        `collection.created ${top.id}`,
        `collection.created ${below.id}`,
        `collection.deleted ${top.id}`,
      ].sort(),
    );
    await purgeAll(store);
    expect(await countStored(place.config, owner)).toEqual({ collections: 1, entities: 0 });
    await store.close();
  });
});
