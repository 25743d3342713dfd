// Starts no platform and at most 60 processes.
import { signUp } from '@kith/contracts';
import { availableEngines } from '@kith/testing';
import { describeKeyedDeaths } from './support/keyed/suite.ts';

for (const engine of availableEngines()) describeKeyedDeaths(engine, [signUp]);
