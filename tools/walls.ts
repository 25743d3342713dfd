// Fails for imports that tools/walls/table.ts does not allow, each with a sentence that says where to go instead, and for circles of files.
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { violationsOf } from './walls/violations.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const sources = globSync('{libs,services,apps,tools}/*/src/**/*.ts', { cwd: root }).filter(
  (file) => !file.endsWith('.test.ts'),
);
const found = violationsOf(new Map(sources.map((file) => [file, readFileSync(`${root}${file}`, 'utf8')])));
for (const { file, line, sentence } of found) console.error(`${file}:${line}: ${sentence}`);
if (found.length > 0) process.exit(1);
