// Starts no platform and at most 60 processes.
import { availableEngines } from '@kith/testing';
import { describeAuditDeaths } from './support/audit-deaths.ts';

// An operation that is called with a server key makes at least forty writes, and the test starts a process for each write. So
// on real engines, only the long suite tests these operations.
for (const engine of availableEngines())
  describeAuditDeaths(engine, { serverKeyChanges: engine === 'embedded' });
