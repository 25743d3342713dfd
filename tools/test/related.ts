import { execFileSync } from 'node:child_process';

/** A small suite on the whole platform: it runs after a change of any package. */
const wholePlatform = 'tests/people.test.ts';

/**
 * Returns vitest's arguments for the suites that uncommitted changes affect. These are the changed suites, and in each changed
 * package the suites that import a changed file, directly or indirectly. If any package has changed, one suite of the whole
 * platform is added. Throws if nothing has changed.
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
