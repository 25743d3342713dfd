import { randomUUID } from 'node:crypto';
import { NoResponders } from '@kith/bus';
import { addEntity, collectionCreated, getRootCollection } from '@kith/contracts';
import { answerInTime, fragileStore, handlerEngines, waitFor } from '@kith/testing';
import { describe, expect, test } from 'vitest';
import { collectionEvent, newCollection } from '../src/collection.ts';
import { startCollections } from '../src/index.ts';
import { openStore } from '../src/store/index.ts';
import { startWorld } from './support/world.ts';

describe.each(handlerEngines())('failures (%s)', (engine) => {
  test('the next process publishes an event that a dead process had stored but not published', async () => {
    await using world = await startWorld(engine, { instances: 0 });
    const events = await world.events();
    const owner = { projectId: randomUUID(), userId: randomUUID() };
    const root = newCollection(owner, { name: 'root', parent: null });
    const dying = await openStore(world.store);
    await dying.insert(root, collectionEvent(collectionCreated, root));
    await dying.close();
    expect(events).toEqual([]);
    await using _next = await startCollections(world.runtime, { store: world.store });
    await waitFor(() => events.length === 1);
    expect(events[0]).toMatchObject({ type: 'collection.created', aggregate: { id: root.id, seq: 1 } });
  });

  test('if the database is gone, the answer collection/server-error comes before the caller gives up', async () => {
    await using world = await startWorld(engine, { instances: 0 });
    await using place = await fragileStore(world.store);
    await using service = await startCollections(world.runtime, { store: place.config });
    const userId = randomUUID();
    await world.collection(getRootCollection, { userId });
    expect(await service.notReady()).toEqual([]);
    place.takeDown();
    const answer = await answerInTime((timeoutMs) => world.call(getRootCollection, { userId, timeoutMs }));
    expect(answer.text).toBe('{"error":"Something went wrong.","code":"collection/server-error"}');
    expect(answer.status).toBe(500);
  });

  test('while the database is gone, no change of a collection waits until another change has failed', async () => {
    await using world = await startWorld(engine, { instances: 0 });
    await using place = await fragileStore(world.store);
    await using _service = await startCollections(world.runtime, { store: place.config });
    const userId = randomUUID();
    const { id: collectionId } = await world.collection(getRootCollection, { userId });
    place.takeDown();
    const answers = await answerInTime((timeoutMs) =>
      Promise.all(
        ['one', 'other'].map((entityId) =>
          world.call(addEntity, { userId, collectionId, body: { entityId }, timeoutMs }),
        ),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([500, 500]);
  });

  test('a stopped service reports that it is stopping, and answers no requests', async () => {
    await using world = await startWorld(engine, { instances: 0 });
    const service = await startCollections(world.runtime, { store: world.store });
    await service.stop();
    expect(await service.notReady()).toContain('stopping');
    await expect(world.call(getRootCollection, { userId: randomUUID() })).rejects.toThrow(NoResponders);
  });
});
