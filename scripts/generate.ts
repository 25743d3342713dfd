// `npm run generate`: writes anew all that is made from contracts, configuration and lock file, each by its own script.
import { spawnSync } from 'node:child_process';

const makers = [
  'scripts/client.ts',
  // The document shows what the examples have recorded.
  'scripts/openapi-examples.ts',
  'scripts/openapi.ts',
  'scripts/docs-operations.ts',
  'scripts/docs-errors.ts',
  'scripts/docs-metrics.ts',
  'scripts/readme-config.ts',
  'scripts/dockerignore.ts',
];

for (const script of makers) {
  console.log(`generate: ${script}`);
  const { status } = spawnSync(process.execPath, [script], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
