// Quick counterpart: services/connections/tests/races.test.ts
import { availableEngines, type EngineKind, testEffort } from '@kith/testing';
import { describe, it } from 'vitest';
import { askEachOther } from './support/crowd.ts';
import { World } from './support/world.ts';

/** How many users the crowd has. On a real engine, each pair costs about thirty writes, so the crowd is smaller there. */
const sizes: Record<EngineKind, number> = {
  embedded: Math.min(100 * testEffort(), 200),
  containers: Math.min(40 * testEffort(), 200),
};

describe.each(availableEngines())('a crowd, %s', (engine) => {
  it('gets one record for each pair, and totals that equal the lists, when all users ask each other', {
    timeout: 1_800_000,
  }, async () => {
    await using world = await World.start(engine);
    await askEachOther(world, sizes[engine]);
  });
});
