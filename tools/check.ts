// `npm run check`: checks types, lint rules and format. Runs as many tools at once as the machine has processors. Stops at the
// first tool that finds something.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { text } from 'node:stream/consumers';

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

const left = tools.values();

/** Runs one tool after the other, until none is left. Shows what a tool has printed only when the tool has ended. */
async function runTools(): Promise<void> {
  for (const [what, script, ...words] of left) {
    const child = spawn(process.execPath, [script, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    console.log(`check: ${what}`);
    process.stdout.write(stdout);
    process.stderr.write(stderr);
    if (code === 0) continue;
    // Types and client are generated from the contracts. So the check of types also fails if somebody adds an operation and does
    // not run `npm run generate`.
    if (what === 'types') console.error('If a contract has changed, run npm run generate first.');
    process.exit(code ?? 1);
  }
}

await Promise.all(Array.from({ length: availableParallelism() }, runTools));
