// Quick counterpart: services/storage/tests/images.test.ts
import { availableEngines } from '@kith/testing';
import { describe, it } from 'vitest';
import { keepsFrames } from './support/keeps-frames.ts';
import { World } from './support/world.ts';

describe.each(availableEngines())('images (%s)', (engine) => {
  // With sharp's default effort for palettes, rendering so many frames would take longer than is allowed
  // (spec#storage-render-time).
  it('keep the frames of a long animation', { timeout: 120_000 }, async () => {
    await using world = await World.start(engine);
    await keepsFrames(world, 120);
  });
});
