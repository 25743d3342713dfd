import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const left = new Set(['node_modules', '.git', '.kith', 'dist']);

/**
 * Copies the repository as it stands, its changes included, as if cloned and installed: third parties' packages are those
 * of this one, its own are the copy's. Gone when disposed.
 */
export async function copyRepository(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'kith-copy-'));
  await cp(root, path, { recursive: true, filter: (from) => !left.has(basename(from)) });
  await mkdir(join(path, 'node_modules/@kith'), { recursive: true });
  for (const name of await readdir(join(root, 'node_modules'))) {
    if (['@kith', '.bin', '.cache'].includes(name) || name.startsWith('.vite')) continue;
    await symlink(join(root, 'node_modules', name), join(path, 'node_modules', name));
  }
  // Each link in it leads to a package beside it.
  await cp(join(root, 'node_modules/.bin'), join(path, 'node_modules/.bin'), {
    recursive: true,
    verbatimSymlinks: true,
  });
  for (const manifest of globSync('{libs/*,services/*,apps/*,tools/*,bench}/package.json', { cwd: path })) {
    const { name } = JSON.parse(await readFile(join(path, manifest), 'utf8')) as { name: string };
    const own = join(path, 'node_modules', name);
    await symlink(relative(join(own, '..'), join(path, dirname(manifest))), own);
  }
  // What tools/bootstrap.mjs leaves once the packages of a lock file are installed.
  const lock = await readFile(join(path, 'package-lock.json'));
  await rm(join(path, 'node_modules/.kith-installed'), { force: true });
  await writeFile(
    join(path, 'node_modules/.kith-installed'),
    createHash('sha256').update(lock).digest('hex'),
  );
  return {
    path,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }),
  };
}
