import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface Manifest {
  name: string;
  version: string;
  exports: Record<string, string>;
  /** Files in the package's folder. The published package contains these files in addition to its sources. */
  files?: string[];
  engines?: Record<string, string>;
  dependencies?: Record<string, string>;
  [key: string]: unknown;
}

/** A workspace of the repository. */
export interface Package {
  /** Its name without the scope. */
  name: string;
  /** Its folder, for example `libs/store`. */
  folder: string;
  manifest: Manifest;
}

const scope = '@kith/';

/** The named packages, and all packages of ours that these packages depend on. */
export function withDependencies(root: string, names: readonly string[]): Package[] {
  const found = new Map<string, Package>();
  const add = (name: string) => {
    if (found.has(name)) return;
    const one = readPackage(root, name);
    found.set(name, one);
    for (const needed of ours(one.manifest)) add(needed);
  };
  for (const name of names) add(name);
  return [...found.values()];
}

/** The manifests of our packages. */
const workspaces = ['libs/*', 'services/*', 'apps/*', 'tools/*'].map((folders) => `${folders}/package.json`);

function readPackage(root: string, name: string): Package {
  for (const file of globSync(workspaces, { cwd: root })) {
    const manifest: Manifest = JSON.parse(readFileSync(join(root, file), 'utf8'));
    if (manifest.name === scope + name) return { name, folder: dirname(file), manifest };
  }
  throw new Error(`There is no package ${name}.`);
}

const ours = ({ dependencies = {} }: Manifest) =>
  Object.keys(dependencies)
    .filter((name) => name.startsWith(scope))
    .map((name) => name.slice(scope.length));

/**
 * The manifest to publish. Paths to sources become paths to compiled files. Packages of ours are required in the same version,
 * because all of them are released together. Commands are left out, because they run only in the repository.
 */
export function published({ private: _, bin, devDependencies, files, exports, ...manifest }: Manifest) {
  const paths = Object.entries(exports).map(([path, source]) => {
    const compiled = source.replace('./src/', './lib/').replace(/\.ts$/, '');
    return [path, { types: `${compiled}.d.ts`, default: `${compiled}.js` }];
  });
  const dependencies = Object.entries(manifest.dependencies ?? {}).map(([name, range]) => [
    name,
    name.startsWith(scope) ? manifest.version : range,
  ]);
  return {
    ...manifest,
    engines: manifest.engines ?? { node: '>=24.7' },
    // With `provenance`, npm publishes the package only from a CI that states what the package was built from.
    publishConfig: { access: 'public', provenance: true },
    exports: Object.fromEntries(paths),
    ...(dependencies.length > 0 && { dependencies: Object.fromEntries(dependencies) }),
  };
}
