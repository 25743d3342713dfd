// `npm run check`: types, lint, format. Ends with the first tool that finds something.
import { spawnSync } from 'node:child_process';

const tools = [
  ['types', 'node_modules/typescript/bin/tsc', '-p', '.'],
  ['lint and format', 'node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'],
  ["README's configuration table", 'scripts/readme-config.ts', '--check'],
  ['docs/operations.md', 'scripts/docs-operations.ts', '--check'],
] as const;

for (const [what, script, ...words] of tools) {
  console.log(`check: ${what}`);
  const { status } = spawnSync(process.execPath, [script, ...words], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
