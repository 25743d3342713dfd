/** `embedded`: SQLite and the in-process bus. `containers`: real NATS, MongoDB and Redis. */
export type EngineKind = 'embedded' | 'containers';

/**
 * The engines that tests run on. If no real engine is available, `npm test` sets KITH_TEST_ENGINES=embedded, and reports the
 * reason once. If a test file is run without `npm test`, it runs on both kinds of engines.
 */
export function availableEngines(env: NodeJS.ProcessEnv = process.env): readonly EngineKind[] {
  return env.KITH_TEST_ENGINES === 'embedded' ? ['embedded'] : ['embedded', 'containers'];
}

/**
 * The engine that suites of services, and most suites of the whole platform, run on. `npm test` uses the embedded form. `npm run
 * test:long` sets KITH_TEST_LENGTH=long and uses real engines.
 */
export function handlerEngines(env: NodeJS.ProcessEnv = process.env): readonly EngineKind[] {
  if (env.KITH_TEST_LENGTH !== 'long') return ['embedded'];
  return availableEngines(env).filter((engine) => engine === 'containers');
}
