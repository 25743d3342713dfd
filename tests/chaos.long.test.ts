// Quick counterpart: tests/outages.test.ts
// Starts no platform and at most 400 processes.
import { availableEngines, testEffort } from '@kith/testing';
import { describe, it } from 'vitest';
import { expectEventsThroughChaos } from './support/chaos.ts';

describe.runIf(availableEngines().includes('containers'))('events while services and the broker die', () => {
  it(
    'events are published for exactly the stored changes, in order for each aggregate, and applied once',
    () => expectEventsThroughChaos({ changes: 1_000 * testEffort() }),
    600_000 * testEffort(),
  );
});
