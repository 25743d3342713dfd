// Quick counterpart: tests/hostile.test.ts
import { testEffort } from '@kith/testing/effort';
import { holdsTheLoopBriefly } from './support/hostile/suite.ts';

/** A run sends one of this many requests, and each run begins at another one. With KITH_TEST_EFFORT=3, a run sends all. */
const oneOf = Math.max(1, Math.ceil(3 / testEffort()));
let at = Math.floor(Math.random() * oneOf);

holdsTheLoopBriefly(() => at++ % oneOf === 0, { timeoutMs: 900_000, atLeast: Math.floor(10_000 / oneOf) });
