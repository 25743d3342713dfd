// `npm run check`: checks types, lint rules and format. Stops at the first tool that finds something.
import { spawnSync } from 'node:child_process';

const tools = [
  ['types', 'node_modules/typescript/bin/tsc', '-p', '.'],
  ['types of the example', 'node_modules/typescript/bin/tsc', '-p', 'examples/people'],
  ['what may import what', 'tools/walls.ts'],
  ['lint and format', 'node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'],
  ['the list of common passwords', 'tools/common-passwords.ts', '--check'],
  ['.dockerignore', 'tools/dockerignore.ts', '--check'],
  ['what --help prints', 'tools/help.ts', '--check'],
  ['images, docker-compose and scrape targets', 'tools/deployment.ts', '--check'],
  ['docs/transport.md', 'tools/docs-credentials.ts', '--check'],
  ['licences of packages', 'tools/licences.ts', '--check'],
  ['sbom.cdx.json', 'tools/sbom.ts', '--check'],
  ['docs/configuration.md', 'tools/docs-configuration.ts', '--check'],
  ['docs/operations.md', 'tools/docs-operations.ts', '--check'],
  ['docs/errors.md', 'tools/docs-errors.ts', '--check'],
  ['docs/metrics.md', 'tools/docs-metrics.ts', '--check'],
  ["the client's methods and types", 'tools/client.ts', '--check'],
  ['the OpenAPI document', 'tools/openapi.ts', '--check'],
  ['the OpenAPI document, by linters', 'tools/openapi-lint.ts'],
] as const;

for (const [what, script, ...words] of tools) {
  console.log(`check: ${what}`);
  const { status } = spawnSync(process.execPath, [script, ...words], { stdio: 'inherit' });
  if (status === 0) continue;
  // Types and client are generated from the contracts. So if somebody adds an operation and does not run `npm run generate`,
  // the check of types fails first.
  if (what === 'types') console.error('If a contract has changed, run npm run generate first.');
  process.exit(status ?? 1);
}
