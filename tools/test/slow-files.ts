import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

/**
 * How many seconds a test file may take before it is reported. The budget is 20 s if the file's name says that its tests kill
 * processes or make them compete. Otherwise it is 10 s.
 */
const budgetOf = (path: string) => (/death|dying|kill|race|crowd|chaos|poison/.test(path) ? 20 : 10);

/** Prints the ten slowest files, and the files over their budget. This is only a warning, because machines differ. */
export default class SlowFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules
      .map((module) => ({ path: relative(process.cwd(), module.moduleId), seconds: secondsOf(module) }))
      .toSorted((one, other) => other.seconds - one.seconds);
    const line = ({ path, seconds }: (typeof files)[number]) =>
      `  ${seconds.toFixed(1).padStart(6)} s  ${path}`;
    console.log(`\nSlowest files:\n${files.slice(0, 10).map(line).join('\n')}`);
    const over = files.filter(
      ({ path, seconds }) => !path.endsWith('.long.test.ts') && seconds > budgetOf(path),
    );
    if (over.length) console.log(`\nOver the time budget:\n${over.map(line).join('\n')}`);
    const total = files.reduce((sum, { seconds }) => sum + seconds, 0);
    console.log(`\n${files.length} files took ${(total / 60).toFixed(1)} worker minutes.\n`);
  }
}

function secondsOf(module: TestModule): number {
  const { collectDuration, setupDuration, duration } = module.diagnostic();
  return (collectDuration + setupDuration + duration) / 1_000;
}
