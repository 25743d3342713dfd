import { randomUUID } from 'node:crypto';
import type { Collection } from '@kith/contracts';
import { handlerEngines, waitFor } from '@kith/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Acts, actsOf } from './support/acts.ts';
import { agreed, entityIds } from './support/agreed.ts';
import { startWorld, type World } from './support/world.ts';

describe.each(handlerEngines())('entities that are added and removed at the same time (%s)', (engine) => {
  let world: World;
  let user: Acts;
  let root: Collection;
  beforeAll(async () => {
    world = await startWorld(engine, { instances: 2 });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    user = actsOf(world, randomUUID());
    root = await user.root();
  });

  test('are counted exactly, and each change has its event', async () => {
    const events = await world.events();
    const { id } = await user.make(root.id);
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, racer) => {
        const entityId = entityIds[racer % entityIds.length] ?? '';
        return racer % 3 === 2 ? user.take(id, entityId) : user.add(id, { entityId });
      }),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const held = await agreed(user, id);
    await user.rename(id, 'last');
    const own = () => events.filter(({ aggregate }) => aggregate.id === id);
    await waitFor(() => own().some(({ type }) => type === 'collection.renamed'));
    const bySeq = new Map(own().map((event) => [event.aggregate.seq, event]));
    const inOrder = [...bySeq.values()].sort((one, other) => one.aggregate.seq - other.aggregate.seq);
    expect(inOrder.map(({ aggregate }) => aggregate.seq)).toEqual(inOrder.map((_, index) => index + 1));
    const told = new Set<unknown>();
    for (const { type, data } of inOrder) {
      if (type === 'collection.entity-added') told.add(data.entityId);
      if (type === 'collection.entity-removed') expect(told.delete(data.entityId)).toBe(true);
      expect(data.entityCount).toBe(told.size);
    }
    expect([...told].sort()).toEqual(held.sort());
  });

  test('are counted once if many requests add the same entity', async () => {
    const { id } = await user.make(root.id);
    const adds = await Promise.all(Array.from({ length: 20 }, () => user.add(id, { entityId: 'entity 1' })));
    for (const { json } of adds) expect(json).toMatchObject({ collection: { entityCount: 1 } });
    expect(await agreed(user, id)).toEqual(['entity 1']);
    await Promise.all(Array.from({ length: 20 }, () => user.take(id, 'entity 1')));
    expect(await agreed(user, id)).toEqual([]);
  });
});
