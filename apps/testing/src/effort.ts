/**
 * The factor for a suite's amount of work, from KITH_TEST_EFFORT (default 1). Random suites multiply their number of sequences
 * by this factor, and suites of races and chaos multiply their amount of work by it. CI runs with 1. Use a higher factor for a
 * release candidate, or if you change the code that these suites test.
 */
export function testEffort(env: NodeJS.ProcessEnv = process.env): number {
  const effort = Number(env.KITH_TEST_EFFORT ?? 1);
  if (!(effort >= 1)) throw new RangeError('KITH_TEST_EFFORT must be a number of at least 1.');
  return effort;
}
