// Quick counterpart: tests/audit-deaths.test.ts
// Starts no platform and at most 60 processes.
import { availableEngines } from '@kith/testing';
import { describeAuditDeaths } from './support/audit-deaths.ts';

for (const engine of availableEngines()) describeAuditDeaths(engine, { serverKeyChanges: true });
