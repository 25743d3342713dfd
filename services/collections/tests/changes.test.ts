import { randomUUID } from 'node:crypto';
import { Turns } from '@kith/base';
import { createRuntime, createStore, handlerEngines } from '@kith/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { AppContext } from '../src/app.ts';
import type { CollectionRecord, Owner } from '../src/collection.ts';
import { addEntity } from '../src/operations/add-entity.ts';
import { removeEntity } from '../src/operations/remove-entity.ts';
import { openStore } from '../src/store/index.ts';
import { makeBelow, save } from './support/store-acts.ts';

const patienceMs = 5_000;

describe.each(handlerEngines())('a change of a collection (%s)', (engine) => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** Makes a store with a collection. The function `replica` makes a replica of the service that changes this collection. */
  async function setUp(undo: AsyncDisposableStack) {
    const { bus } = undo.use(await createRuntime(engine));
    const place = undo.use(await createStore(engine));
    const store = undo.adopt(await openStore(place.config), (opened) => opened.close());
    const owner: Owner = { projectId: randomUUID(), userId: randomUUID() };
    const collection = await makeBelow(store, owner, null);
    const replica = (turns = new Turns()) =>
      actsOn(collection, { store, bus, relay: { kick: () => {} }, turns });
    return { store, owner, collection, replica };
  }

  function actsOn(collection: CollectionRecord, app: AppContext) {
    const request = () => ({
      projectId: collection.projectId,
      caller: { userId: collection.userId },
      deadline: Date.now() + patienceMs,
    });
    const collectionId = collection.id;
    const params = { collectionId };
    return {
      add: (entityId: string) => addEntity.handle({ ...request(), params, body: { entityId } } as never, app),
      take: (entityId: string) =>
        removeEntity.handle({ ...request(), params: { collectionId, entityId } } as never, app),
    };
  }

  test.each([
    {
      what: 'an add of an entity that another replica adds',
      held: [],
      act: 'add',
      elsewhere: 'add',
      count: 1,
    },
    {
      what: 'a removal of an entity that another replica removes',
      held: ['e'],
      act: 'take',
      elsewhere: 'take',
      count: 0,
    },
    {
      what: 'a removal of an entity that another replica adds',
      held: [],
      act: 'take',
      elsewhere: 'add',
      count: 0,
    },
  ] as const)('is answered with the current count: $what', async ({ held, act, elsewhere, count }) => {
    await using undo = new AsyncDisposableStack();
    const { store, owner, collection, replica } = await setUp(undo);
    for (const entityId of held) await save(store, owner, collection.id, entityId);
    const [here, there] = [replica(), replica()];
    const read = store.entity.bind(store);
    // At this point, the handler has read the collection, but not yet the entity.
    vi.spyOn(store, 'entity').mockImplementationOnce(async (...of) => {
      await there[elsewhere]('e');
      return read(...of);
    });
    const answer = await here[act]('e');
    expect(answer).toEqual({ success: true, collection: { id: collection.id, entityCount: count } });
    const stored = await store.root(owner);
    expect(stored?.entityCount).toBe(count);
    expect(await store.entities(stored!, { from: { skip: 0 }, limit: 9, newestFirst: true })).toHaveLength(
      count,
    );
  });

  test('is made before its deadline or not at all, no matter how long it waits for its turn', async () => {
    await using undo = new AsyncDisposableStack();
    const { store, owner, collection, replica } = await setUp(undo);
    const turns = new Turns();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
    const [lost, before] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    vi.spyOn(store, 'changeEntity').mockImplementationOnce(async () => {
      lost.resolve();
      return false;
    });
    const earlier = turns.run([`${owner.projectId}|${owner.userId}|${collection.id}`], () => before.promise);
    const adding = replica(turns).add('e');
    await lost.promise;
    vi.setSystemTime(Date.now() + patienceMs);
    before.resolve();
    await expect(adding).rejects.toMatchObject({ code: 'gateway/unavailable' });
    await earlier;
    expect((await store.root(owner))?.entityCount).toBe(0);
  });
});
