// Writes into .dockerignore which packages an image takes: those that services import, with all that these need, from
// the lock file. Builders copy and hash every file that is sent, and most of what is installed serves development.
// `--check` only compares.
import { readFileSync, writeFileSync } from 'node:fs';
import { extras, type Lock, neededBy } from './bootstrap/sizes.mjs';

const lockFile = new URL('../package-lock.json', import.meta.url);
const { packages } = JSON.parse(readFileSync(lockFile, 'utf8')) as Lock;

// An image runs services and what `apps/kith` has for setting them up, and starts no containers of its own.
const run = Object.entries(packages).flatMap(([path, { link, resolved = '' }]) =>
  link && /^(services\/[^/]+|apps\/kith)$/.test(resolved) ? [path.replace('node_modules/', '')] : [],
);
const needed = neededBy(packages, run, extras.containers?.names);

// What npm has put inside a package goes with it.
const tops = [...needed].flatMap((path) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
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
