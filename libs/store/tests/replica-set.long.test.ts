// Quick counterpart: libs/store/tests/replica-set.test.ts
import { testEffort } from '@kith/testing';
import { test } from 'vitest';
import { losesNothing } from './replica-set/play.ts';

const limitMs = 300_000 * testEffort();

test(
  'through thousands of schedules, acknowledged changes are stored, counted exactly once and published exactly once',
  { timeout: limitMs + 10_000 },
  () => losesNothing(2_000 * testEffort(), limitMs),
);
