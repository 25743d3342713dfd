// @ts-check
import { join, sep } from 'node:path';
import { install, installedIn, read } from './install.mjs';
import { root } from './run.mjs';

const folder = join(root, 'tools/node');

/**
 * Returns the path of the Node that runs Kith. This is the running Node if it is new enough. If not, installs a Node from npm.
 */
export function findNode() {
  // Before docs/adr/0043, Kith had its Node in `node_modules`. The next installation removes that Node, so Kith does not use it
  // any more.
  if (process.execPath.startsWith(join(root, 'node_modules', sep))) return pinnedNode();
  // Kith needs `crypto.argon2`, which exists from Node 24.7 on.
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > 24 || (major === 24 && minor >= 7) ? process.execPath : pinnedNode();
}

/**
 * Installs the Node that the lock file in `tools/node` names, and returns its path. Throws if npm has no Node for this machine.
 */
export async function pinnedNode() {
  const files = Object.fromEntries(
    ['package.json', 'package-lock.json'].map((file) => [file, read(join(folder, file))]),
  );
  /** @type {import('./sizes.mjs').Lock} */
  const { packages } = JSON.parse(files['package-lock.json'] ?? '');
  const platform = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const path = Object.keys(packages).find((one) => one.endsWith(`-${platform}`));
  if (!path) {
    throw new Error(
      `Kith needs Node 24.7 or newer. This is ${process.version}, and npm has no Node package for ${platform}. ` +
        'Install Node 24 and start again.',
    );
  }
  const isMissing = () => installedIn(folder).packages[path]?.version !== packages[path]?.version;
  if (isMissing()) {
    process.stderr.write(`Fetching Node ${packages[path]?.version} …\n`);
    await install(folder, files, isMissing);
  }
  return join(folder, path, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
}
