/**
 * Suites that test the answers of operations. They run on the engine that `handlerEngines` names: the embedded form in
 * `npm test`, and real engines in `npm run test:long` (docs/adr/0025).
 */
export const handlerSuites: readonly string[] = [
  'services/*/tests/operations/**/*.test.ts',
  // `layers` and `server-errors` are left out, because `npm test` runs them on the embedded form and on real engines.
  // `coverage` is left out, because it needs no platform.
  'tests/surface/!(coverage|layers|server-errors).test.ts',
  'tests/{cross-tenant,mass-assignment}.test.ts',
];
