import { randomUUID } from 'node:crypto';
import type { Collection } from '@kith/contracts';
import { availableEngines, dieBeforeEachWrite, waitFor } from '@kith/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Acts, actsOf, type EntityList } from './support/acts.ts';
import { runDying } from './support/dying.ts';
import { startWorld, type World } from './support/world.ts';

// Starts no platform and at most 80 processes.

const entityIds = Array.from({ length: 12 }, (_, index) => `entity ${index}`);

describe.each(availableEngines())('entities that come and go at once (%s)', (engine) => {
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

  /** Expects that count, list, rows and look-ups of a collection agree. Returns the collection's entities. */
  const agreed = async (id: string, by = user): Promise<string[]> => {
    const walked = await by.walk(id);
    const { pagination } = (await by.entities(id)).json as EntityList;
    const children = (await by.children((await by.root()).id)).json as Collection[];
    expect(pagination.totalItems).toBe(walked.length);
    expect(children.find((child) => child.id === id)?.entityCount).toBe(walked.length);
    expect(new Set(walked).size).toBe(walked.length);
    for (const entityId of entityIds) {
      expect((await by.homes(entityId)).includes(id)).toBe(walked.includes(entityId));
    }
    return walked;
  };

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
    const held = await agreed(id);
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

  test('are as many as the one that was acknowledged, when all are the same', async () => {
    const { id } = await user.make(root.id);
    const adds = await Promise.all(Array.from({ length: 20 }, () => user.add(id, { entityId: 'entity 1' })));
    for (const { json } of adds) expect(json).toMatchObject({ collection: { entityCount: 1 } });
    expect(await agreed(id)).toEqual(['entity 1']);
    await Promise.all(Array.from({ length: 20 }, () => user.take(id, 'entity 1')));
    expect(await agreed(id)).toEqual([]);
  });

  test.each([
    ['add', 'look-up'],
    ['add', 'list'],
    ['take', 'list'],
    ['take', 'change'],
  ] as const)(
    'are whole or absent when the process dies before any of its writes: %s, first a %s',
    { timeout: 120_000 },
    async (act, first) => {
      const { store, projectId } = world;
      const entityId = 'entity 1';
      const outcomes = new Set<boolean>();
      const deaths = await dieBeforeEachWrite(async (dieBeforeWrite) => {
        const userId = randomUUID();
        const own = actsOf(world, userId);
        const { id } = await own.make((await own.root()).id);
        for (const held of act === 'add' ? ['entity 0'] : ['entity 0', entityId]) {
          await own.add(id, { entityId: held });
        }
        const looks = {
          'look-up': async () => (await own.homes(entityId)).includes(id),
          list: async () => (await own.walk(id)).includes(entityId),
          async change() {
            await own.add(id, { entityId: 'entity 2' });
          },
        };
        const work = { store, projectId, userId, collectionId: id, entityId, dieBeforeWrite };
        const death = await runDying({ ...work, act });
        const seen = await looks[first]();
        const isSaved = (await agreed(id, own)).includes(entityId);
        if (seen !== undefined) expect(isSaved).toBe(seen);
        if (death.acknowledged) expect(isSaved).toBe(act === 'add');
        outcomes.add(isSaved);
        return death;
      });
      expect(deaths.at(0)).toEqual({ killed: true, acknowledged: false });
      expect(deaths.at(-1)).toEqual({ killed: false, acknowledged: true });
      expect(outcomes.size).toBe(2);
    },
  );
});
