import { randomUUID } from 'node:crypto';
import { getRootCollection } from '@kith/contracts';
import { availableEngines, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorld, type World } from './support/world.ts';

describe.each(availableEngines())('the root collection (%s)', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine, { instances: 2 });
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

  test('is one a user and project, however many ask at once, with one event', async () => {
    const userId = randomUUID();
    const events = await world.events();
    const roots = await Promise.all(
      Array.from({ length: 30 }, () => world.collection(getRootCollection, { userId })),
    );
    for (const root of roots) expect(root).toEqual(roots[0]);
    const other = await world.collection(getRootCollection, { userId, projectId: randomUUID() });
    const stranger = await world.collection(getRootCollection, { userId: randomUUID() });
    expect(new Set([roots[0]?.id, other.id, stranger.id]).size).toBe(3);
    await waitFor(() => events.some(({ aggregate }) => aggregate.id === stranger.id));
    await waitFor(() => events.some(({ aggregate }) => aggregate.id === roots[0]?.id));
    const made = events.filter(
      (event) => event.data.userId === userId && event.projectId === world.projectId,
    );
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect(made[0]).toEqual({
      id: expect.any(String),
      type: 'collection.created',
      version: 1,
      projectId: world.projectId,
      occurredAt: roots[0]?.createdAt,
      actorId: userId,
      aggregate: { type: 'collection', id: roots[0]?.id, seq: 1 },
      data: roots[0],
    });
  });
});
