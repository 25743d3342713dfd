// Quick counterpart: tests/hostile.test.ts
import { testEffort } from '@kith/testing/effort';
import { holdsTheLoopBriefly } from './support/hostile/suite.ts';

/** The share of the requests that a run sends. Each run chooses others; with KITH_TEST_EFFORT=3, a run sends all. */
const share = Math.min(testEffort() / 3, 1);

holdsTheLoopBriefly(() => Math.random() < share, { timeoutMs: 900_000, atLeast: 9_000 * share });
