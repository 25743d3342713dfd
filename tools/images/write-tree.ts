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

/** What an image has beside its packages. */
const others = ['LICENSE', 'tools/healthcheck.mjs'];

/**
 * Writes what an image holds into a folder, from the packages that are installed: they lie as in the repository. Beside them lie the bill
 * of materials and the licences of just these. Throws where a package is not installed.
 *
 * @param whole The bill of the whole lock file, which npm run sbom makes.
 */
export function writeTree({ name, lock }: Image, root: string, folder: string, whole: Bill): void {
  const packages = Object.entries(lock.packages).filter(([path, { optional }]) => {
    if (existsSync(join(root, path))) return true;
    // Of builds for several machines npm installs one.
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
 * Links the files of a package, which several images share. What npm has put inside of it is a package of its own. Node reads no
 * TypeScript there, and no maps.
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
    // On another disk.
    copyFileSync(source, target);
  }
}

/** Sources and what they read. Its manifest names those dependencies alone that are there. */
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
