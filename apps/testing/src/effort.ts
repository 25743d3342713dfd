/**
 * How much more than usual a suite is to do, from KITH_TEST_EFFORT (default 1): random suites multiply their sequences by it, races
 * and chaos their size. CI runs with 1; use more for a release candidate, or for a change of what these suites prove.
 */
export function testEffort(env: NodeJS.ProcessEnv = process.env): number {
  const effort = Number(env.KITH_TEST_EFFORT ?? 1);
  if (!(effort >= 1)) throw new RangeError('KITH_TEST_EFFORT must be a number of at least 1.');
  return effort;
}
