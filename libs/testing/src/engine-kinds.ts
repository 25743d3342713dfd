/** `embedded`: SQLite and the in-process bus. `containers`: real NATS, MongoDB and Redis. */
export type EngineKind = 'embedded' | 'containers';

/**
 * The engines suites run on here. `npm test` sets KITH_TEST_ENGINES=embedded where no real engine can be had, and
 * says why once; on its own, a suite runs on both.
 */
export function availableEngines(env: NodeJS.ProcessEnv = process.env): readonly EngineKind[] {
  return env.KITH_TEST_ENGINES === 'embedded' ? ['embedded'] : ['embedded', 'containers'];
}
