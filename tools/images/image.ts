import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Lock, neededBy } from '../bootstrap/sizes.mjs';
import { importsOf } from '../walls/imports.ts';
import { loadedBy } from './loaded.ts';

/** The content of an image (docs/adr/0059). */
export interface Image {
  name: string;
  /**
   * The lock file, reduced to the packages in the image, both ours and third-party packages. In the reduced file, our packages
   * depend only on packages in the image.
   */
  lock: Lock;
}

/** The files that are run by the processes of an image. */
function entriesOf(name: string): string[] {
  if (name !== 'setup') return [`services/${name}/src/main.ts`];
  const others = [
    ...['credentials/setup', 'credentials/rotate-secret', 'credentials/make-database-users'],
    ...['keeper/main', 'cli/main'],
  ];
  return others.map((one) => `apps/kith/src/${one}.ts`);
}

/**
 * Packages that no image holds. They start containers, and the command line starts containers only if it does not run in a
 * container itself.
 */
const left = ['testcontainers'];

/** The images of a repository: an image for each service, and the image that sets up the installation. */
export function imageNames(root: string): string[] {
  return [...readdirSync(join(root, 'services')).sort(), 'setup'];
}

export function lockOf(root: string): Lock {
  return JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
}

/**
 * Determines the content of an image. Takes the packages of ours whose sources the image's processes may load. Adds the
 * dependencies that are named in these sources, and everything that those dependencies need. Throws if a source imports
 * something that its package does not depend on.
 */
export function imageOf(root: string, name: string, lock = lockOf(root)): Image {
  const entries = entriesOf(name);
  const packages = { ...lock.packages };
  const home = folderOf(entries[0] ?? '');
  const link = Object.keys(packages).find((path) => packages[path]?.link && packages[path].resolved === home);
  if (!link) throw new Error(`package-lock.json does not have ${home}: run npm install.`);
  const byFolder = Map.groupBy(loadedBy(root, lock, entries), ([file]) => folderOf(file));
  for (const [folder, sources] of byFolder) {
    const { devDependencies: _, bin: _bin, ...entry } = packages[folder] ?? {};
    const { dependencies = {} } = entry;
    for (const [file, text] of sources) refuseUndeclared(file, text, dependencies);
    const isNamed = (one: string) =>
      sources.some(([file, text]) => file.endsWith('.ts') && naming(one).test(text));
    const named = Object.entries(dependencies).filter(([one]) => isNamed(one) && !left.includes(one));
    packages[folder] = { ...entry, dependencies: Object.fromEntries(named) };
  }
  const needed = neededBy(packages, [link.replace('node_modules/', '')]);
  const cut = Object.entries(packages).filter(([path]) => needed.has(path));
  return { name, lock: { ...lock, packages: Object.fromEntries(cut) } };
}

/** The folder of the package that a file belongs to, for example `libs/store`. */
const folderOf = (file: string) => file.split('/').slice(0, 2).join('/');

/**
 * Finds the name of a package, or of a part of a package, as a string in code. It is not enough to look at imports, because some
 * files are loaded in other ways.
 */
const naming = (name: string) => new RegExp(`['"\`]${name.replaceAll('.', '\\.')}['"\`/]`);

function refuseUndeclared(file: string, text: string, dependencies: Record<string, string>): void {
  for (const { name } of importsOf(file, text)) {
    if (name.startsWith('.') || name.startsWith('node:')) continue;
    const [scope = '', own = ''] = name.split('/');
    const needed = scope.startsWith('@') ? `${scope}/${own}` : scope;
    if (!(needed in dependencies))
      throw new Error(`${file} imports ${name}, but ${folderOf(file)}/package.json does not depend on it.`);
  }
}
