// Quick counterpart: services/collections/tests/entity-deaths.test.ts
// Starts no platform and at most 60 processes.
import { availableEngines } from '@kith/testing';
import { describe } from 'vitest';
import { describeEntityDeaths } from './support/entity-deaths.ts';

describe.runIf(availableEngines().includes('containers'))('on real engines', () =>
  describeEntityDeaths('containers', [
    ['add', 'look-up'],
    ['take', 'list'],
    ['take', 'change'],
  ]),
);
