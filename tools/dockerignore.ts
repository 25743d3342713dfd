// Writes into .dockerignore which packages an image takes: those that services import, with all that these need, from
// the lock file. Builders copy and hash every file that is sent, and most of what is installed serves development.
// `--check` only compares.
import { readFileSync, writeFileSync } from 'node:fs';

interface Locked {
  resolved?: string;
  link?: true;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

const lockFile = new URL('../package-lock.json', import.meta.url);
const { packages } = JSON.parse(readFileSync(lockFile, 'utf8')) as { packages: Record<string, Locked> };

// An image runs services and what `apps/kith` has for setting them up.
const run = Object.keys(packages).filter((path) => {
  const { link, resolved = '' } = packages[path] as Locked;
  return link && /^(services\/[^/]+|apps\/kith)$/.test(resolved);
});

/** Where Node finds a package that the one at `from` imports; `undefined` where npm has left an optional one out. */
function find(from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const path = `${folder && `${folder}/`}node_modules/${name}`;
    if (packages[path]) return path;
    if (!folder) return undefined;
  }
}

const needed = new Set<string>();
function take(path: string): void {
  if (needed.has(path)) return;
  needed.add(path);
  const { link, resolved, dependencies, optionalDependencies } = packages[path] ?? {};
  if (link && resolved) take(resolved);
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const found = find(path, name);
    if (found) take(found);
  }
}
run.forEach(take);

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
