// Quick counterpart: services/collections/tests/model.test.ts
import { availableEngines, testEffort } from '@kith/testing';
import { describe, test } from 'vitest';
import { agreeWithModel } from './support/model.ts';
import { startWorld } from './support/world.ts';

describe.each(availableEngines())('the tree and a model of it, in many sequences of steps (%s)', (engine) => {
  test('agree after every step', { timeout: 180_000 * testEffort() }, async () => {
    await using world = await startWorld(engine, { instances: 2 });
    await agreeWithModel(world, (engine === 'embedded' ? 100 : 6) * testEffort());
  });
});
