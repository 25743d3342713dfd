import { mkdir, rename, rm } from 'node:fs/promises';

/**
 * Makes a folder completely or not at all. The folder first has another name (`….partial`). If `make` fails, this removes the
 * folder. If a killed process has left a folder `….partial`, this first removes that folder. If `replaced` is given, there is a
 * folder already, which gets that name.
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
    return made;
  } catch (error) {
    await remove();
    throw error;
  }
}
