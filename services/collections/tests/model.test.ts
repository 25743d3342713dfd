import { handlerEngines } from '@kith/testing';
import { describe, test } from 'vitest';
import { agreeWithModel } from './support/model.ts';
import { startWorld } from './support/world.ts';

describe.each(handlerEngines())('the tree and a model of it (%s)', (engine) => {
  test('agree after every step of a few random sequences', async () => {
    await using world = await startWorld(engine, { instances: 2 });
    await agreeWithModel(world, engine === 'embedded' ? 40 : 4);
  });
});
