// `npm run generate`: rewrites all files that are made from contracts, manifests, configuration and lock file. Each part has a
// script of its own.
import { spawnSync } from 'node:child_process';

const makers = [
  'tools/common-passwords.ts',
  'tools/client.ts',
  // The examples come first, because the OpenAPI document contains them.
  'tools/openapi-examples.ts',
  'tools/openapi.ts',
  'tools/docs-operations.ts',
  'tools/docs-errors.ts',
  'tools/docs-metrics.ts',
  'tools/docs-configuration.ts',
  'tools/dockerignore.ts',
  'tools/deployment.ts',
  'tools/docs-credentials.ts',
  'tools/help.ts',
  'tools/sbom.ts',
];

for (const script of makers) {
  console.log(`generate: ${script}`);
  const { status } = spawnSync(process.execPath, [script], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
