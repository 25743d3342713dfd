/** `embedded`: SQLite and the in-process bus. `containers`: real NATS, MongoDB and Redis. */
export type EngineKind = 'embedded' | 'containers';

/**
 * The engines that suites run on here. If no real engine can be had, `npm test` sets KITH_TEST_ENGINES=embedded, and says why once.
 * A suite that is run by itself uses both.
 */
export function availableEngines(env: NodeJS.ProcessEnv = process.env): readonly EngineKind[] {
  return env.KITH_TEST_ENGINES === 'embedded' ? ['embedded'] : ['embedded', 'containers'];
}

/**
 * The engine that suites of handlers run on: the embedded form in `npm test`, real engines in `npm run test:long`, which sets
 * KITH_TEST_LENGTH=long.
 */
export function handlerEngines(env: NodeJS.ProcessEnv = process.env): readonly EngineKind[] {
  if (env.KITH_TEST_LENGTH !== 'long') return ['embedded'];
  return availableEngines(env).filter((engine) => engine === 'containers');
}
