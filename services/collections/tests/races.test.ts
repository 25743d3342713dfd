import { randomUUID } from 'node:crypto';
import { type Collection, getRootCollection } from '@kith/contracts';
import { handlerEngines, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { actsOf } from './support/acts.ts';
import { startWorld, type World } from './support/world.ts';

describe.each(handlerEngines())('a collection that many requests use at once (%s)', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine, { instances: 2 });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('is made only once, with one event, if many requests ask for the root of a user in a project', async () => {
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

  test('is renamed by many requests: each acknowledged rename has its event, and seq has no gaps', async () => {
    const events = await world.events();
    const user = actsOf(world, randomUUID());
    const root = await user.root();
    const made = await user.make(root.id);
    const racers = 40;
    const answers = await Promise.all(
      Array.from({ length: racers }, (_, racer) => user.rename(made.id, `racer ${racer}`)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: racers }, () => 200));
    const own = () => events.filter(({ aggregate }) => aggregate.id === made.id);
    const bySeq = () => new Map(own().map((event) => [event.aggregate.seq, event]));
    await waitFor(() => bySeq().size === racers + 1);
    const inOrder = [...bySeq().entries()].sort(([one], [other]) => one - other);
    expect(inOrder.map(([seq]) => seq)).toEqual(Array.from({ length: racers + 1 }, (_, seq) => seq + 1));
    const told = inOrder.slice(1).map(([, event]) => event.data);
    const acknowledged = answers.map(({ json }) => json as Collection);
    const byName = (one: Collection, other: Collection) => (one.name < other.name ? -1 : 1);
    expect([...told].sort(byName)).toEqual(acknowledged.sort(byName));
    expect((await user.children(root.id)).json).toEqual([told.at(-1)]);
  });
});
