import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const here = resolve(import.meta.dirname, '../../..');

/** A checkout of another commit, with this one's packages. */
export async function checkOut(commit: string): Promise<{ folder: string } & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'kith-before-'));
  await run('git', ['-C', here, 'worktree', 'add', '--detach', folder, commit]);
  // Packages are this one's; the workspaces among them, links relative to their folder, are its own.
  await linkPackages('');
  for (const group of ['libs', 'services']) {
    for (const name of await readdir(join(folder, group))) await linkPackages(join(group, name));
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
      if (name === '@kith')
        await cp(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
      else await symlink(join(from, name), join(to, name));
    }
  }
}
