import { handlerEngines } from '@kith/testing';
import { describe, it } from 'vitest';
import { agreeWithModel } from './support/play.ts';
import { World } from './support/world.ts';

describe.each(handlerEngines())('the service and the model, %s', (engine) => {
  it('agree after every action of a few random sequences', async () => {
    await using world = await World.start(engine);
    for (const actors of [2, 3]) {
      await agreeWithModel(world, {
        actors,
        ...(engine === 'embedded' ? { runs: 8, steps: 40 } : { runs: 1, steps: 20 }),
      });
    }
  });
});
