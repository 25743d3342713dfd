import {
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type Bill, billOf } from './bill.ts';
import type { Image } from './image.ts';
import { noticesOf } from './notices.ts';

/** Files that an image has beside its packages. */
const others = ['LICENSE', 'tools/healthcheck.mjs'];

/**
 * Writes what an image holds into a folder, from the installed packages, at the same places as in the repository. Beside them it
 * writes the bill of materials and the licences of these packages alone. Throws if a package is not installed.
 *
 * @param whole The bill of the whole lock file, which npm run sbom makes.
 */
export function writeTree({ name, lock }: Image, root: string, folder: string, whole: Bill): void {
  const packages = Object.entries(lock.packages).filter(([path, { optional }]) => {
    if (existsSync(join(root, path))) return true;
    // npm installs only one of the builds for several machines.
    if (optional) return false;
    throw new Error(`${path} is not installed: run npm ci.`);
  });
  for (const [path, { link, resolved = '', dependencies }] of packages) {
    const [from, to] = [join(root, path), join(folder, path)];
    mkdirSync(dirname(to), { recursive: true });
    if (link) symlinkSync(relative(dirname(path), resolved), to);
    else if (path.includes('node_modules/')) linkPackage(from, to);
    else copyOurs(from, to, dependencies);
  }
  for (const file of others) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    copyFileSync(join(root, file), join(folder, file));
  }
  const held = { ...lock, packages: Object.fromEntries(packages) };
  writeFileSync(join(folder, 'sbom.cdx.json'), `${JSON.stringify(billOf(whole, { name, lock: held }))}\n`);
  writeFileSync(join(folder, 'licences.txt'), noticesOf(held, root));
}

/**
 * Links the files of a package, which several images share. Packages that npm has put inside of it are handled on their own.
 * TypeScript and source maps are left out, as Node does not read them there.
 */
function linkPackage(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.name === 'node_modules' || /\.(map|[cm]?ts)$/.test(entry.name)) continue;
    if (entry.isDirectory()) linkPackage(source, target);
    else linkOrCopy(source, target);
  }
}

function linkOrCopy(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch {
    // Links are impossible if the folder is on another disk.
    copyFileSync(source, target);
  }
}

/** Copies the sources of a package and what they read. Its manifest then names only dependencies that are there. */
function copyOurs(from: string, to: string, dependencies: Record<string, string> | undefined): void {
  cpSync(join(from, 'src'), join(to, 'src'), {
    recursive: true,
    filter: (path) => !path.endsWith('.test.ts'),
  });
  for (const file of globSync('*.json', { cwd: from })) copyFileSync(join(from, file), join(to, file));
  const {
    devDependencies: _,
    bin: _bin,
    ...manifest
  } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'));
  writeFileSync(join(to, 'package.json'), `${JSON.stringify({ ...manifest, dependencies }, null, 2)}\n`);
}
