import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Held, inHeldFolder } from './held-folder.ts';

/**
 * Makes the folder `<path>.partial` if it does not exist, and calls `work` with it. If another process works in this folder,
 * throws `StartError` and leaves that process alone.
 */
export async function beside<T>(
  path: string,
  work: (partial: string) => Promise<T>,
  held?: Held,
): Promise<T> {
  const partial = `${path}.partial`;
  await mkdir(partial, { recursive: true, mode: 0o700 });
  return inHeldFolder(partial, () => work(partial), held);
}

/**
 * Makes a folder completely or not at all. `make` fills the folder `<path>.partial/new`, which is then renamed to `path`. If
 * `replaced` is given, an existing folder at `path` is first renamed to `replaced`, and removed at the end.
 */
export function whole<T>(
  path: string,
  make: (folder: string) => Promise<T>,
  { replaced, ...held }: Held & { replaced?: string } = {},
): Promise<T> {
  const work = async (partial: string) => {
    const folder = join(partial, 'new');
    await mkdir(folder, { mode: 0o700 });
    const made = await make(folder);
    if (replaced !== undefined) await rename(path, replaced);
    // If there is an empty folder at `path`, the new folder replaces it.
    await rename(folder, path);
    if (replaced !== undefined) await rm(replaced, { recursive: true });
    return made;
  };
  return beside(path, work, held);
}

/**
 * Removes a folder that `whole` has made. If the process is killed before it has removed everything, the next call of `whole`
 * removes the rest of the folder.
 */
export function removeWhole(path: string): Promise<void> {
  return beside(path, (partial) => rename(path, join(partial, 'old')));
}
