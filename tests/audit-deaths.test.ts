// Starts at most 0 platforms and 60 processes.
import { availableEngines } from '@kith/testing';
import { describeAuditDeaths } from './support/audit-deaths.ts';

// The operations of a server key make forty writes and more, with a process for each: on real engines only the long suite runs them.
for (const engine of availableEngines())
  describeAuditDeaths(engine, { serverKeyChanges: engine === 'embedded' });
