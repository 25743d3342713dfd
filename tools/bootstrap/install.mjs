// @ts-check
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { root, run } from './run.mjs';
import { cutTo, holds, partsIn } from './sizes.mjs';

/** The file that npm writes into `node_modules` at the end of each installation. */
const note = '.package-lock.json';
const staging = '.kith-install-';
/** A staging folder that is at least this old (in ms) counts as a leftover of a killed process. */
const oldMs = 3_600_000;

/**
 * Installs parts of the root lock file if they are not installed yet. Other installed parts stay.
 *
 * @param {readonly string[]} wanted
 */
export async function installPackages(wanted) {
  /** @type {import('./sizes.mjs').Lock} */
  const lock = JSON.parse(read(join(root, 'package-lock.json')));
  for (let isDone = false; !isDone && !holds(installedIn(root), wanted, lock); ) {
    const parts = [...new Set([...partsIn(installedIn(root), lock), ...wanted])];
    const size = parts.includes('all') ? 'all packages' : 'the packages that running Kith needs';
    process.stderr.write(`Installing ${size} …\n`);
    const cut = cutTo(parts, lock);
    isDone = await install(root, filesOf(cut), (installed) => {
      if (holds(installed, wanted, lock)) return false;
      // Another process may have installed other parts in the meantime. This replacement would remove them, so the next round
      // installs the parts of both processes.
      return parts.includes('all') || partsIn(installed, lock).every((part) => parts.includes(part));
    });
    if (process.platform === 'win32') linkOurs(cut.lock.packages);
  }
}

/**
 * The installed packages in a folder, as npm has recorded them. Empty if npm was interrupted.
 *
 * @param {string} folder
 * @returns {import('./sizes.mjs').Lock}
 */
export function installedIn(folder) {
  return noteOf(join(folder, 'node_modules'));
}

/**
 * @param {string} modules A `node_modules`.
 * @returns {import('./sizes.mjs').Lock}
 */
function noteOf(modules) {
  return JSON.parse(read(join(modules, note)) || '{"packages":{}}');
}

/**
 * Returns the files that npm reads to install a reduced lock file: the content of each file, by path.
 *
 * @param {ReturnType<typeof cutTo>} cut
 */
function filesOf({ lock, trim }) {
  /** @type {Record<string, string>} */
  const files = { 'package-lock.json': JSON.stringify(lock), '.npmrc': read(join(root, '.npmrc')) };
  for (const [path, { bin = {} }] of Object.entries(lock.packages)) {
    if (path.includes('node_modules/')) continue;
    const manifest = join(path, 'package.json');
    files[manifest] = JSON.stringify(trim(JSON.parse(read(join(root, manifest)))));
    // Makes empty files for the commands, because npm links only commands whose files exist.
    for (const command of Object.values(bin)) files[join(path, command)] = '';
  }
  return files;
}

/**
 * Runs `npm ci` in a folder beside `node_modules`. When the result is complete, this function replaces `node_modules` by the
 * result. So an interrupted installation changes nothing, and a running platform keeps its files. Returns whether it has
 * replaced `node_modules`. Throws if npm fails.
 *
 * @param {string} folder
 * @param {Record<string, string>} files The contents of the files that npm reads, by path.
 * @param {(installed: import('./sizes.mjs').Lock) => boolean} isNeeded Whether to replace the installed packages. This is
 * called at the end, because another process may have installed the packages in the meantime.
 */
export async function install(folder, files, isNeeded) {
  const stage = makeStage(folder);
  try {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(stage, path)), { recursive: true });
      writeFileSync(join(stage, path), content);
    }
    // The scripts of packages are not run. Nothing here needs these scripts, and they would have the caller's rights.
    const words = ['ci', '--ignore-scripts', '--include=dev', '--include=optional', '--loglevel=error'];
    if ((await npm([...words, '--no-audit', '--no-fund'], stage)) !== 0)
      throw new Error('Installing the packages failed; see the output of npm above.');
    return replace(join(folder, 'node_modules'), stage, isNeeded);
  } finally {
    rmSync(stage, { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * Makes the folder in which npm works, and removes folders that earlier runs have left. Throws if this user cannot write to
 * `folder`. On a server, Kith runs as a user that may only read the code (docs/hosting.md).
 *
 * @param {string} folder
 */
function makeStage(folder) {
  try {
    removeOld(folder);
    return mkdtempSync(join(folder, staging));
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    throw new Error(
      `Packages of this version are missing, and this user cannot write to ${folder} (${code}). ` +
        'Run `kith --version` with the same settings as a user who can write there. This command installs the packages.',
    );
  }
}

/**
 * @param {readonly string[]} words
 * @param {string} cwd
 */
function npm(words, cwd) {
  const { npm_execpath: path = '' } = process.env;
  /** @type {import('node:child_process').StdioOptions} */
  const stdio = ['ignore', 2, 2];
  if (path.endsWith('npm-cli.js')) return run(process.execPath, [path, ...words], { cwd, stdio });
  return run('npm', words, { cwd, stdio, shell: process.platform === 'win32' });
}

/**
 * Replaces a `node_modules` folder by the one in a staging folder. Returns whether it has replaced the folder.
 *
 * @param {string} old
 * @param {string} stage
 * @param {(installed: import('./sizes.mjs').Lock) => boolean} isNeeded
 */
export function replace(old, stage, isNeeded) {
  const fresh = join(stage, 'node_modules');
  for (let turn = 0; isNeeded(noteOf(old)); turn++) {
    const before = join(stage, `old-${turn}`);
    try {
      if (existsSync(old)) {
        renameSync(old, before);
        // Another process may have put this folder there since `isNeeded` was called.
        if (!isNeeded(noteOf(before))) {
          putBack(before, old);
          return false;
        }
      }
      renameSync(fresh, old);
      return true;
    } catch (error) {
      const { code = '' } = /** @type {NodeJS.ErrnoException} */ (error);
      // A mounted volume cannot be renamed, so its content is replaced. In development containers, `node_modules` can be such a
      // volume.
      if (['EBUSY', 'EXDEV'].includes(code)) {
        copyInto(old, fresh);
        return true;
      }
      // Another process has renamed a folder in the meantime, so the loop tries again.
      if (turn === 10 || !['ENOENT', 'EEXIST', 'ENOTEMPTY'].includes(code)) throw error;
    }
  }
  return false;
}

/**
 * Puts back a `node_modules` folder that was moved away. Meanwhile, a program that started with these packages may have made a
 * new folder at the same path, for its compile cache. If the new folder holds no installed packages, it is moved away.
 *
 * @param {string} before
 * @param {string} old
 */
function putBack(before, old) {
  for (let turn = 0; ; turn++) {
    try {
      renameSync(before, old);
      return;
    } catch (error) {
      const { code = '' } = /** @type {NodeJS.ErrnoException} */ (error);
      if (turn === 10 || !['EEXIST', 'ENOTEMPTY'].includes(code)) throw error;
      if (Object.keys(noteOf(old).packages).length > 0) return;
      renameSync(old, `${before}-${turn}`);
    }
  }
}

/**
 * @param {string} old
 * @param {string} fresh
 */
function copyInto(old, fresh) {
  // The file that `note` names is removed first and copied last. Without this file, nothing counts as installed.
  for (const name of [note, ...readdirSync(old)]) rmSync(join(old, name), { recursive: true, force: true });
  const copy = (/** @type {string} */ name) =>
    cpSync(join(fresh, name), join(old, name), { recursive: true, verbatimSymlinks: true });
  for (const name of readdirSync(fresh)) if (name !== note) copy(name);
  copy(note);
}

/**
 * Links our packages again. On Windows, links to folders are absolute, so they point into the folder where they were made.
 *
 * @param {import('./sizes.mjs').Lock['packages']} packages
 */
function linkOurs(packages) {
  for (const [path, { link, resolved = '' }] of Object.entries(packages)) {
    if (!link) continue;
    rmSync(join(root, path), { recursive: true, force: true });
    symlinkSync(join(root, resolved), join(root, path), 'junction');
  }
}

/** @param {string} folder */
function removeOld(folder) {
  for (const name of readdirSync(folder).filter((one) => one.startsWith(staging))) {
    const { mtimeMs } = statSync(join(folder, name));
    if (Date.now() - mtimeMs > oldMs) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** @param {string} file */
export function read(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
