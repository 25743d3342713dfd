/**
 * Suites of what operations answer. `npm test` runs them on the embedded form, and `npm run test:long` on real engines: they use
 * `handlerEngines` (docs/adr/0025).
 */
export const handlerSuites: readonly string[] = [
  'services/*/tests/operations/**/*.test.ts',
  // `npm test` runs `layers` and `server-errors` on both. `coverage` needs no platform.
  'tests/surface/!(coverage|layers|server-errors).test.ts',
  'tests/{cross-tenant,mass-assignment}.test.ts',
];
