// @ts-check
// Which packages an installation holds (docs/adr/0043). Plain JavaScript, because the bootstrap runs on any Node ≥ 20.

/**
 * A lock file as npm writes it. `packages` is by path; the path '' is the repository itself.
 *
 * @typedef {{ packages: Record<string, Locked> }} Lock
 * @typedef {{
 *   version?: string;
 *   integrity?: string;
 *   link?: boolean;
 *   dev?: boolean;
 *   optional?: boolean;
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

/** The script that runs Kith. All others work on Kith and need everything. */
export const commandLine = 'apps/kith/src/cli/main.ts';

/** The package of ours that running Kith needs, with everything that it depends on. */
const platform = '@kith/platform';

/**
 * Packages that only some installations need. `names` are the beginnings of names of packages that ours depend on; they are needed
 * if one of the variables is set, or if an option is on the command line. Working on Kith needs all of them.
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
 * The parts that a script needs: `['all']`, or `run` and extras.
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
 * The parts that an installation was made for, in any versions.
 *
 * @param {Lock} installed As npm notes it in `node_modules`.
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
 * Whether an installation holds some parts of a lock file, in the versions of that lock file. npm leaves out optional packages that
 * are for other machines.
 *
 * @param {Lock} installed
 * @param {readonly string[]} parts
 * @param {Lock} lock
 */
export function holds(installed, parts, lock) {
  const isThere = (/** @type {string} */ path) => {
    const wanted = lock.packages[path] ?? {};
    const there = installed.packages[path];
    if (!there) return wanted.optional === true;
    return there.version === wanted.version && there.integrity === wanted.integrity;
  };
  return [...pathsOf(parts, lock)].filter((path) => !isOurs(path)).every(isThere);
}

/**
 * Cuts a lock file down to some parts. `trim` does the same to the `package.json` of the repository and of a package of
 * ours.
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
 * The paths in a lock file that some parts need.
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
 * The paths of packages in a lock file, and of those that they depend on, as npm installs them.
 *
 * @param {Lock['packages']} packages
 * @param {readonly string[]} names Packages of ours.
 * @param {readonly string[]} left Beginnings of names of dependencies of ours that are left out.
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
 * Where Node finds a package that the one at `from` imports; `undefined` if it is optional and npm has left it out.
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
