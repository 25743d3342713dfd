import type { EngineKind } from '@kith/testing';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { World } from './world.ts';

/** Starts a world before the tests of a suite, and gives each test three new people. */
export function threePeopleForEach(
  engine: EngineKind,
  use: (world: World, people: [string, string, string]) => void,
): void {
  let world: World;
  beforeAll(async () => {
    world = await World.start(engine);
  });
  afterAll(() => world[Symbol.asyncDispose]());
  beforeEach(async () => {
    use(world, (await world.newPeople(3)) as [string, string, string]);
  });
}
