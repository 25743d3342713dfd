import { availableEngines } from '@kith/testing';
import { afterAll, beforeAll, describe } from 'vitest';
import { behaviours } from './support/behaviours.ts';
import { testBehaviours } from './support/suite.ts';
import { type ClientWorld, startWorld } from './support/world.ts';

describe.each(availableEngines())('the client in Node (%s)', (engine) => {
  let world: ClientWorld;
  beforeAll(async () => {
    world = await startWorld(engine);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  testBehaviours((name) => behaviours[name](world));
});
