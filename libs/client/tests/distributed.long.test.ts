// Quick counterpart: libs/client/tests/behaviours.test.ts
// Starts at most 1 platform and 7 processes.
import { availableEngines, type TestPlatform } from '@kith/testing';
import { afterAll, beforeAll, describe } from 'vitest';
import { behaviours } from './support/behaviours.ts';
import { testStreams } from './support/stream-suite.ts';
import { testBehaviours } from './support/suite.ts';
import { startLimited } from './support/world.ts';

describe.runIf(availableEngines().includes('containers'))('the client on the distributed form', () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startLimited('containers');
  });
  afterAll(() => platform.stop());

  testBehaviours({ platform: () => platform, run: (name, world) => behaviours[name](world) });
  testStreams(() => platform);
});
