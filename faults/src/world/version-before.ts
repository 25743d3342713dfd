import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const here = resolve(import.meta.dirname, '../../..');

/** Makes a checkout of another commit, which uses the third-party packages of this checkout. */
export async function checkOut(commit: string): Promise<{ folder: string } & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'kith-before-'));
  await run('git', ['-C', here, 'worktree', 'add', '--detach', folder, commit]);
  // Third-party packages are links into this checkout. The workspaces (`@kith/…`) are links into the checkout of the other
  // commit.
  await linkPackages('');
  await mkdir(join(folder, 'node_modules/@kith'), { recursive: true });
  for (const manifest of globSync('{libs/*,services/*,apps/*,tools/*,bench}/package.json', { cwd: folder })) {
    const workspace = dirname(manifest);
    await linkPackages(workspace);
    const { name } = JSON.parse(await readFile(join(folder, manifest), 'utf8')) as { name: string };
    await symlink(join(folder, workspace), join(folder, 'node_modules', name));
  }
  return {
    folder,
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true });
      await run('git', ['-C', here, 'worktree', 'prune']);
    },
  };

  async function linkPackages(workspace: string): Promise<void> {
    const from = join(here, workspace, 'node_modules');
    const to = join(folder, workspace, 'node_modules');
    const names = await readdir(from).catch(() => []);
    if (names.length > 0) await mkdir(to, { recursive: true });
    for (const name of names) {
      if (name !== '@kith') await symlink(join(from, name), join(to, name));
    }
  }
}
