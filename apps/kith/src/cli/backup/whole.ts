import { mkdir, rename, rm } from 'node:fs/promises';

/**
 * Makes a folder completely or not at all. The folder first has another name (`….partial`). If `make` fails, this removes the
 * folder. If a killed process has left a folder `….partial`, this first removes that folder. If `replaced` is given, there is a
 * folder already. It gets that name for a moment, and is then removed.
 */
export async function whole<T>(
  path: string,
  make: (partial: string) => Promise<T>,
  { replaced }: { replaced?: string } = {},
): Promise<T> {
  const partial = `${path}.partial`;
  const remove = () => rm(partial, { recursive: true, force: true });
  await remove();
  await mkdir(partial, { recursive: true, mode: 0o700 });
  try {
    const made = await make(partial);
    if (replaced !== undefined) await rename(path, replaced);
    // If there is an empty folder with the final name, the new folder replaces it.
    await rename(partial, path);
    if (replaced !== undefined) await rm(replaced, { recursive: true });
    return made;
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * Removes a folder that `whole` has made. If a killed process has removed only a part of it, the next call of `whole` removes the
 * rest.
 */
export async function removeWhole(path: string): Promise<void> {
  await rename(path, `${path}.partial`);
  await rm(`${path}.partial`, { recursive: true });
}
