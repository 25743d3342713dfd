// Quick counterpart: tests/idempotency-deaths.test.ts
// Starts at most 0 platforms and 600 processes.
import { operations, takesKey } from '@kith/contracts';
import { availableEngines } from '@kith/testing';
import { describeKeyedDeaths } from './support/keyed/suite.ts';

for (const engine of availableEngines()) describeKeyedDeaths(engine, operations.filter(takesKey));
