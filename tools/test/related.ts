import { execFileSync } from 'node:child_process';

/** The whole platform in little: goes with every change of a package. */
const wholePlatform = 'tests/people.test.ts';

/**
 * Gives vitest's arguments for the suites that uncommitted changes touch: of each package that changed, those that import
 * a changed file, however indirectly; of the whole platform, one. Throws where nothing has changed.
 */
export function relatedFiles(): string[] {
  const git = (...words: string[]) => execFileSync('git', words, { encoding: 'utf8' }).split('\n');
  const changed = [
    ...git('diff', '--name-only', 'HEAD'),
    ...git('ls-files', '--others', '--exclude-standard'),
  ].filter((path) => /\.(ts|tsx|mjs|json)$/.test(path));
  if (!changed.length) throw new Error('Nothing has changed since the last commit.');
  const packages = new Set(
    changed.flatMap((path) => /^(?:libs|services|apps)\/[^/]+\/|^tools\/engines\//.exec(path) ?? []),
  );
  const suites = changed.filter((path) => path.endsWith('.test.ts'));
  return [
    '--changed',
    '--passWithNoTests',
    ...packages,
    ...suites,
    ...(packages.size ? [wholePlatform] : []),
  ];
}
