// Starts no platform and at most 40 processes.
import { availableEngines } from '@kith/testing';
import { describeEntityDeaths, type EntityDeath } from './support/entity-deaths.ts';

const all: readonly EntityDeath[] = [
  ['add', 'look-up'],
  ['add', 'list'],
  ['take', 'list'],
  ['take', 'change'],
];

// On real engines, only one case runs here. The long suite runs the other cases.
for (const engine of availableEngines())
  describeEntityDeaths(engine, engine === 'embedded' ? all : [['add', 'list']]);
