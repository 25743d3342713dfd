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
import { isBuiltFor, type Machine, npmWordsFor, thisMachine } from './machine.ts';
import { noticesOf } from './notices.ts';

/** Files that an image has in addition to its packages. */
const others = ['LICENSE', 'tools/healthcheck.mjs'];

/**
 * Writes the content of an image into a folder. The content comes from the installed packages. Each file has the same place as
 * in the repository. Also writes the bill of materials and the licences, but only of these packages. Throws if a package is not
 * installed, or is installed for another kind of machine than the image needs.
 *
 * @param whole The bill of the whole lock file. npm run sbom makes this bill.
 * @param machine By default, the machine on which this function runs. In the Dockerfile, this is a container of the image's
 * base image.
 */
export function writeTree(
  { name, lock }: Image,
  root: string,
  folder: string,
  whole: Bill,
  machine: Machine = thisMachine(),
): void {
  const packages = Object.entries(lock.packages).filter(([path, entry]) => {
    if (existsSync(join(root, path))) return true;
    // If a package exists in several builds, one for each kind of machine, npm installs only one of them. So the other builds
    // may be missing.
    if (entry.optional && !isBuiltFor(machine, entry)) return false;
    const words = entry.optional ? npmWordsFor(machine) : [];
    throw new Error(`${path} is not installed: run ${['npm ci', ...words].join(' ')}.`);
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
 * Makes links to the files of a package, because several images share them. Packages that npm has put inside the package are
 * handled separately. Leaves out TypeScript and source maps, because Node does not read them in `node_modules`.
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
    // If the folder is on another disk, links are impossible, so this copies the file.
    copyFileSync(source, target);
  }
}

/**
 * Copies the sources of a package, and the files that these sources read. The copied manifest names only dependencies in the
 * image.
 */
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
