// Writes into .dockerignore which packages are sent to a builder. These are the packages that at least one image holds
// (tools/images). Builders copy and hash every sent file, and most installed packages are only for development. With `--check`,
// it writes nothing, and fails if the result would differ.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { imageNames, imageOf, lockOf } from './images/image.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const lock = lockOf(root);
const needed = imageNames(root).flatMap((name) => Object.keys(imageOf(root, name, lock).lock.packages));

// A package is sent together with all packages that npm has put inside its folder.
const tops = needed.flatMap((path) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
const lines = ['node_modules/*', ...[...new Set(tops)].sort().map((path) => `!${path}`)].join('\n');

const file = new URL('../.dockerignore', import.meta.url);
const ignore = readFileSync(file, 'utf8');
const written = ignore.replace(/(# <packages>[^\n]*\n)[\s\S]*?(# <\/packages>)/, `$1${lines}\n$2`);
if (process.argv.includes('--check')) {
  if (written !== ignore) {
    console.error('.dockerignore: its packages differ from package-lock.json; run tools/dockerignore.ts');
    process.exit(1);
  }
} else writeFileSync(file, written);
