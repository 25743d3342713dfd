// Starts no platform and at most 60 processes.
import { signUp } from '@kith/contracts';
import { handlerEngines } from '@kith/testing';
import { describeKeyedDeaths } from './support/keyed/suite.ts';

for (const engine of handlerEngines()) describeKeyedDeaths(engine, [signUp]);
