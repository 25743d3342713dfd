// Fails if a file has an import that tools/walls/table.ts does not allow, or if files import each other in a circle. For each
// forbidden import, it prints what to import instead.
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { violationsOf } from './walls/violations.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folders = ['{libs,services,apps}/*/{src,tests}', '{bench,faults}/{src,tests}', 'tools', 'tests'];
const sources = folders
  .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root }))
  // These two files contain imports as text: forbidden imports, and imports of the generated client.
  .filter((file) => !['tests/walls.test.ts', 'tools/client.ts'].includes(file));
const found = violationsOf(new Map(sources.map((file) => [file, readFileSync(`${root}${file}`, 'utf8')])));
for (const { file, line, sentence } of found) console.error(`${file}:${line}: ${sentence}`);
if (found.length > 0) process.exit(1);
