// Starts no platform and at most 80 processes.
import { randomUUID } from 'node:crypto';
import { dieBeforeEachWrite, handlerEngines } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { actsOf } from './support/acts.ts';
import { agreed } from './support/agreed.ts';
import { runDying } from './support/dying.ts';
import { startWorld, type World } from './support/world.ts';

/** The change that a process is making when it dies, and the first request after its death. */
const cases = [
  ['add', 'look-up'],
  ['add', 'list'],
  ['take', 'list'],
  ['take', 'change'],
] as const;

/**
 * Tests the entities of a process that dies while it adds or takes them. The process dies before each of its writes in turn.
 */
describe.each(handlerEngines())('entities that a dying process changes (%s)', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine, { instances: 2 });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test.each(cases)(
    'are changed completely or not at all if the process dies at any of its writes: %s, then a %s',
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
        const isSaved = (await agreed(own, id)).includes(entityId);
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
