import { randomUUID } from 'node:crypto';
import { getRootCollection } from '@kith/contracts';
import { handlerEngines } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore } from '../../src/store/index.ts';
import { erase } from '../support/store-acts.ts';
import { startWorld, type World } from '../support/world.ts';

describe.each(handlerEngines())('the root collection (%s)', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine, { purgeEveryMs: 3_600_000 });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('is made on first use and stays the same', async () => {
    const userId = randomUUID();
    const root = await world.collection(getRootCollection, { userId });
    expect(root).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      projectId: world.projectId,
      userId,
      parentId: null,
      name: 'root',
      isRoot: true,
      entityCount: 0,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: root.createdAt,
    });
    expect(await world.collection(getRootCollection, { userId })).toEqual(root);
  });

  test('is unavailable while the data of an ended account is erased', async () => {
    const userId = randomUUID();
    const { id, projectId } = await world.collection(getRootCollection, { userId });
    const store = await openStore(world.store);
    await erase(store, { projectId, userId }, id);
    await store.close();
    const answer = await world.call(getRootCollection, { userId });
    expect(answer.json).toMatchObject({ code: 'gateway/unavailable' });
    expect(answer.status).toBe(503);
  });
});
