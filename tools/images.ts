// Writes the content of each named image into a folder with the image's name: `tools/images.ts <folder> [image…]`. If no image
// is named, it writes all images. The Dockerfile runs this script on the installed packages (docs/adr/0059).
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
