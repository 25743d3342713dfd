// Writes what the images hold, each into a folder named after it: `tools/images.ts <folder> [image…]`; without a name it writes
// all. The Dockerfile runs it on the packages that are installed (docs/adr/0059).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { imageNames, imageOf, lockOf } from './images/image.ts';
import { writeTree } from './images/write-tree.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const [folder, ...named] = process.argv.slice(2);
if (!folder) throw new Error('Name the folder: node tools/images.ts <folder>');
const whole = JSON.parse(readFileSync(join(root, 'sbom.cdx.json'), 'utf8'));
const lock = lockOf(root);
for (const name of named.length > 0 ? named : imageNames(root)) {
  writeTree(imageOf(root, name, lock), root, join(folder, name), whole);
}
