// Quick counterpart: tests/hostile.test.ts
import { testEffort } from '@kith/testing/effort';
import { holdsTheLoopBriefly } from './support/hostile/suite.ts';

/**
 * A run sends only one of every `oneOf` requests, and begins with a random one. With KITH_TEST_EFFORT=3, a run sends all
 * requests.
 */
const oneOf = Math.max(1, Math.ceil(3 / testEffort()));
let at = Math.floor(Math.random() * oneOf);

holdsTheLoopBriefly(() => at++ % oneOf === 0, { timeoutMs: 900_000, atLeast: Math.floor(10_000 / oneOf) });
