// Quick counterpart: services/connections/tests/dying-writers.test.ts
// Starts no platform and at most 60 processes.
import { availableEngines } from '@kith/testing';
import { describe } from 'vitest';
import { describeDyingWriters } from './support/describe-dying-writers.ts';

describe.runIf(availableEngines().includes('containers'))('on real engines', () =>
  describeDyingWriters('containers', ['accept', 'disconnect']),
);
