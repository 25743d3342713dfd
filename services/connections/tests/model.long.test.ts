// Quick counterpart: services/connections/tests/model.test.ts
import { availableEngines, type EngineKind, testEffort } from '@kith/testing';
import { describe, it } from 'vitest';
import { agreeWithModel } from './support/play.ts';
import { World } from './support/world.ts';

/**
 * How many sequences run on each engine, and how many steps a sequence has at most. Each step takes long, because all lists of
 * all users are compared after it.
 */
const effort: Record<EngineKind, { runs: number; steps: number }> = {
  embedded: { runs: 25 * testEffort(), steps: 60 },
  containers: { runs: 2 * testEffort(), steps: 25 },
};

describe.each(availableEngines())('the service and the model, in many long sequences, %s', (engine) => {
  it.each([2, 3])(
    'agree after every action of %d users',
    { timeout: 300_000 * testEffort() },
    async (actors) => {
      await using world = await World.start(engine);
      await agreeWithModel(world, { actors, ...effort[engine] });
    },
  );
});
