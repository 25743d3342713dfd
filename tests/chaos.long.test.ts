// Quick counterpart: tests/outages.test.ts
// Starts no platform and at most 400 processes.
import { availableEngines, testEffort } from '@kith/testing';
import { describe, it } from 'vitest';
import { expectEventsThroughChaos } from './support/chaos.ts';

describe.runIf(availableEngines().includes('containers'))('events while services and the broker die', () => {
  it(
    'exactly the stored changes make events; each event is applied once, in the order of its aggregate',
    () => expectEventsThroughChaos({ changes: 1_000 * testEffort() }),
    600_000 * testEffort(),
  );
});
