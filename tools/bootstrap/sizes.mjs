// @ts-check
// Determines the packages of an installation (docs/adr/0043). This is plain JavaScript, because the bootstrap runs on any
// Node ≥ 20.

/**
 * A lock file as npm writes it. The keys of `packages` are paths. The path '' is the repository itself.
 *
 * @typedef {{ packages: Record<string, Locked> }} Lock
 * @typedef {{
 *   version?: string;
 *   integrity?: string;
 *   link?: boolean;
 *   dev?: boolean;
 *   optional?: boolean;
 *   os?: string[];
 *   cpu?: string[];
 *   libc?: string[];
 *   resolved?: string;
 *   bin?: Record<string, string>;
 *   workspaces?: string[];
 *   dependencies?: Record<string, string>;
 *   devDependencies?: Record<string, string>;
 *   optionalDependencies?: Record<string, string>;
 *   peerDependencies?: Record<string, string>;
 *   peerDependenciesMeta?: Record<string, { optional?: boolean }>;
 * }} Locked
 */

/** The script that runs Kith. All other scripts are for development, and need all packages. */
export const commandLine = 'apps/kith/src/cli/main.ts';

/** The package that runs Kith. It is installed with everything that it depends on. */
const platform = '@kith/platform';

/**
 * Extras: groups of packages that only some installations need. `names` are prefixes: a package belongs to the group if its
 * name begins with one of them. All of these packages are dependencies of our packages. An extra is needed if one of its
 * variables is set, or if one of its options is on the command line. Development needs all extras.
 *
 * @type {Record<string, { names: string[]; variables: string[]; options?: string[] }>}
 */
export const extras = {
  distributed: {
    names: ['mongodb', '@nats-io/', 'ioredis'],
    variables: ['MONGODB_URL', 'NATS_URL', 'REDIS_URL'],
    options: ['--distributed'],
  },
  tracing: {
    names: ['@opentelemetry/'],
    variables: ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_TRACES_EXPORTER'],
  },
  s3: { names: ['@aws-sdk/'], variables: ['STORAGE_URL'] },
  containers: { names: ['testcontainers'], variables: [] },
};

/**
 * The parts that a script needs: either `['all']`, or `run` and some extras.
 *
 * @param {string} script
 * @param {readonly string[]} words
 * @param {NodeJS.ProcessEnv} env
 * @returns {string[]}
 */
export function partsFor(script, words, env) {
  if (script !== commandLine) return ['all'];
  const isSet = (/** @type {string} */ name) => Boolean(env[name] || env[`${name}_FILE`]);
  const asked = Object.entries(extras).filter(
    ([, { variables, options = [] }]) => variables.some(isSet) || options.some((one) => words.includes(one)),
  );
  return ['run', ...asked.map(([name]) => name)];
}

/**
 * The parts that an installation was made for. Versions do not matter.
 *
 * @param {Lock} installed The installed packages, as npm notes them in `node_modules`.
 * @param {Lock} lock
 * @returns {string[]}
 */
export function partsIn(installed, lock) {
  const paths = Object.keys(installed.packages);
  if (paths.length === 0) return [];
  if (Object.values(installed.packages).some(({ dev }) => dev)) return ['all'];
  const run = pathsOf(['run'], lock);
  const isThere = (/** @type {string} */ name) => {
    const more = pathsOf(['run', name], lock);
    return paths.some((path) => more.has(path) && !run.has(path));
  };
  return ['run', ...Object.keys(extras).filter(isThere)];
}

/**
 * Whether all packages of `parts` are installed in the versions of the lock file. Optional packages for other machines may be
 * missing, because npm leaves them out.
 *
 * @param {Lock} installed
 * @param {readonly string[]} parts
 * @param {Lock} lock
 */
export function holds(installed, parts, lock) {
  const required = requiredOf(parts, lock);
  const isThere = (/** @type {string} */ path) => {
    const wanted = lock.packages[path] ?? {};
    const there = installed.packages[path];
    if (!there) return !required.has(path);
    return there.version === wanted.version && there.integrity === wanted.integrity;
  };
  return [...pathsOf(parts, lock)].filter((path) => !isOurs(path)).every(isThere);
}

/**
 * Reduces a lock file to some parts. `trim` reduces the `package.json` of the repository, or of one of our packages, in the
 * same way.
 *
 * @param {readonly string[]} parts
 * @param {Lock} lock
 * @returns {{ lock: Lock; trim: (manifest: Locked) => Locked }}
 */
export function cutTo(parts, lock) {
  if (parts.includes('all')) return { lock, trim: (manifest) => manifest };
  const left = leftOf(parts);
  const needed = pathsOf(parts, lock);
  const workspaces = [...needed].filter((path) => path !== '' && isOurs(path));
  const trim = ({ devDependencies: _, ...manifest } = /** @type {Locked} */ ({})) => ({
    ...manifest,
    ...(manifest.workspaces && { workspaces }),
    ...(manifest.dependencies && { dependencies: without(left, manifest.dependencies) }),
  });
  const packages = Object.entries(lock.packages)
    .filter(([path]) => needed.has(path))
    .map(([path, entry]) => [path, isOurs(path) ? trim(entry) : entry]);
  return { lock: { ...lock, packages: Object.fromEntries(packages) }, trim };
}

/**
 * The lock file's paths of all packages that `parts` need.
 *
 * @param {readonly string[]} parts
 * @param {Lock} lock
 * @returns {Set<string>}
 */
export function pathsOf(parts, { packages }) {
  if (parts.includes('all')) return new Set(Object.keys(packages));
  return neededBy(packages, [platform], leftOf(parts)).add('');
}

/**
 * The paths of `pathsOf` that every machine needs. If npm leaves out an optional package, it also leaves out those dependencies
 * of the package that nothing else in these parts needs. The `optional` marks of the lock file are not enough: npm marks a
 * dependency as optional only if nothing else in the whole lock file needs the dependency.
 *
 * @param {readonly string[]} parts
 * @param {Lock} lock
 * @returns {Set<string>}
 */
function requiredOf(parts, lock) {
  const required = Object.entries(lock.packages).filter(([, { optional }]) => !optional);
  return pathsOf(parts, { packages: Object.fromEntries(required) });
}

/**
 * The lock file's paths of the packages `names` and of all packages that they depend on, as npm installs them.
 *
 * @param {Lock['packages']} packages
 * @param {readonly string[]} names Packages of ours.
 * @param {readonly string[]} left Beginnings of package names. Our dependencies with such a name are left out.
 * @returns {Set<string>}
 */
export function neededBy(packages, names, left = []) {
  /** @type {Set<string>} */
  const needed = new Set();
  const take = (/** @type {string} */ path) => {
    if (needed.has(path)) return;
    needed.add(path);
    const entry = packages[path] ?? {};
    if (entry.link && entry.resolved) take(entry.resolved);
    const wanted = dependenciesOf(entry);
    for (const name of Object.keys(isOurs(path) ? without(left, wanted) : wanted)) {
      const found = find(packages, path, name);
      if (found) take(found);
    }
  };
  for (const name of names) take(`node_modules/${name}`);
  return needed;
}

/**
 * @param {readonly string[]} parts
 * @returns {string[]}
 */
function leftOf(parts) {
  return Object.entries(extras).flatMap(([name, { names }]) => (parts.includes(name) ? [] : names));
}

/**
 * @param {Locked} entry
 * @returns {Record<string, string>}
 */
function dependenciesOf({
  dependencies,
  optionalDependencies,
  peerDependencies = {},
  peerDependenciesMeta = {},
}) {
  const peers = Object.entries(peerDependencies).filter(([name]) => !peerDependenciesMeta[name]?.optional);
  return { ...dependencies, ...optionalDependencies, ...Object.fromEntries(peers) };
}

/**
 * @param {readonly string[]} left
 * @param {Record<string, string>} dependencies
 */
function without(left, dependencies) {
  const kept = Object.entries(dependencies).filter(([name]) => !left.some((start) => name.startsWith(start)));
  return Object.fromEntries(kept);
}

/**
 * The path where Node finds an imported package. The package at `from` imports it. `undefined` if the imported package is optional
 * and npm has left it out.
 *
 * @param {Lock['packages']} packages
 * @param {string} from
 * @param {string} name
 * @returns {string | undefined}
 */
function find(packages, from, name) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const path = `${folder && `${folder}/`}node_modules/${name}`;
    if (packages[path]) return path;
    if (!folder) return undefined;
  }
}

/** @param {string} path */
function isOurs(path) {
  return !path.includes('node_modules/');
}
