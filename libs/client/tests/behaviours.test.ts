import type { TestPlatform } from '@kith/testing';
import { afterAll, beforeAll, describe } from 'vitest';
import { behaviours } from './support/behaviours.ts';
import { testBehaviours } from './support/suite.ts';
import { startLimited } from './support/world.ts';

describe('the client in Node', () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startLimited('embedded');
  });
  afterAll(() => platform.stop());

  testBehaviours({ platform: () => platform, run: (name, world) => behaviours[name](world) });
});
