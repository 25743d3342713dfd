import { globSync, readFileSync } from 'node:fs';

/** All test files whose names end with `ending`. */
export const suitesEndingWith = (ending: string): string[] =>
  ['{libs,services,apps}/*/{src,tests}', 'tools', 'bench/tests', 'tests'].flatMap((root) =>
    globSync(`${root}/**/*${ending}`, { exclude: (path) => path.includes('node_modules') }),
  );

/**
 * Suites that `npm test` runs on the embedded form, and `npm run test:long` on real engines (docs/adr/0025). These are the
 * suites that call `handlerEngines`, and those of the surface that do not name their engines.
 */
export const suitesOfBothRuns = (): string[] =>
  suitesEndingWith('.test.ts').filter((path) => {
    if (path.endsWith('.long.test.ts')) return false;
    const text = readFileSync(path, 'utf8');
    return (
      /\bhandlerEngines\(\)/.test(text) || (/\bdescribeSurface\(/.test(text) && !/\bengines:/.test(text))
    );
  });
