import { randomUUID } from 'node:crypto';
import { getRootCollection } from '@kith/contracts';
import { handlerEngines } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorld, type World } from '../support/world.ts';

describe.each(handlerEngines())('the root collection (%s)', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine);
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
});
