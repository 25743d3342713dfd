// Quick counterpart: tests/hostile.test.ts
import { holdsTheLoopBriefly } from './support/hostile/suite.ts';

holdsTheLoopBriefly(() => true, { timeoutMs: 900_000, atLeast: 10_000 });
