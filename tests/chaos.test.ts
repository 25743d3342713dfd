// Starts no platform and at most 80 processes.
import { availableEngines } from '@kith/testing';
import { describe, it } from 'vitest';
import { expectEventsThroughChaos } from './support/chaos.ts';

describe.runIf(availableEngines().includes('containers'))('events while services and the broker die', () => {
  it(
    'are out exactly for what is stored, in order for each aggregate, and applied once',
    () => expectEventsThroughChaos({ changes: 150 }),
    240_000,
  );
});
