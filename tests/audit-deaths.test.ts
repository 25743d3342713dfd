// Starts at most 0 platforms and 60 processes.
import { availableEngines } from '@kith/testing';
import { describeAuditDeaths } from './support/audit-deaths.ts';

// What a server key does makes forty writes and more, a process each: on real engines that is for the long suite.
for (const engine of availableEngines())
  describeAuditDeaths(engine, { serverKeyChanges: engine === 'embedded' });
