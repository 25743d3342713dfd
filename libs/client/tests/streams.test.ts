import type { TestPlatform } from '@kith/testing';
import { afterAll, beforeAll } from 'vitest';
import { testStreams } from './support/stream-suite.ts';
import { startLimited } from './support/world.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startLimited('embedded');
});
afterAll(() => platform.stop());

testStreams(() => platform);
