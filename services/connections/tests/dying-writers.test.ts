// Starts no platform and at most 60 processes.
import { availableEngines } from '@kith/testing';
import { describeDyingWriters } from './support/describe-dying-writers.ts';

// On real engines, only `request` is tested here. The long suite tests the other actions.
for (const engine of availableEngines())
  describeDyingWriters(engine, engine === 'embedded' ? ['request', 'accept', 'disconnect'] : ['request']);
