import { existsSync, globSync } from 'node:fs';
import { constants, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const left = new Set(['node_modules', '.git', '.kith', 'dist']);
const isLeft = (name: string) => left.has(name) || name.startsWith('.kith-install-');

/** A copy of the repository. Disposing the copy removes it. */
export interface RepositoryCopy extends AsyncDisposable {
  path: string;
}

/** Copies the repository with its uncommitted changes, like a fresh clone: no packages are installed. */
export async function cloneRepository(): Promise<RepositoryCopy> {
  const path = await mkdtemp(join(tmpdir(), 'kith-copy-'));
  await cp(root, path, { recursive: true, filter: (from) => !isLeft(basename(from)) });
  return {
    path,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }),
  };
}

/**
 * Copies the repository like a clone with installed packages. The third-party packages are those of this repository, or copies of them
 * that npm may change. Our own packages are those of the copy.
 */
export async function copyRepository({
  packages = 'linked',
}: {
  packages?: 'linked' | 'copied';
} = {}): Promise<RepositoryCopy> {
  const copy = await cloneRepository();
  const { path } = copy;
  await mkdir(join(path, 'node_modules/@kith'), { recursive: true });
  for (const name of await readdir(join(root, 'node_modules'))) {
    if (['@kith', '.bin', '.cache'].includes(name) || name.startsWith('.vite')) continue;
    const [from, to] = [join(root, 'node_modules', name), join(path, 'node_modules', name)];
    if (packages === 'linked') await symlink(from, to);
    else await cp(from, to, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE });
  }
  // Each link in `.bin` leads to a package beside this folder, so the links also work in the copy.
  await cp(join(root, 'node_modules/.bin'), join(path, 'node_modules/.bin'), {
    recursive: true,
    verbatimSymlinks: true,
  });
  for (const manifest of globSync('{libs/*,services/*,apps/*,examples/*,tools/engines,bench}/package.json', {
    cwd: path,
  })) {
    const { name } = JSON.parse(await readFile(join(path, manifest), 'utf8')) as { name: string };
    const own = join(path, 'node_modules', name);
    await symlink(relative(join(own, '..'), join(path, dirname(manifest))), own);
  }
  const node = 'tools/node/node_modules';
  if (existsSync(join(root, node))) await symlink(join(root, node), join(path, node));
  return copy;
}
