import { mkdir, rename, rm } from 'node:fs/promises';

/**
 * Makes a folder completely or not at all. The folder first has another name (`….partial`). If `make` fails, this removes the
 * folder. If a killed process has left a folder `….partial`, this first removes that folder.
 */
export async function whole<T>(path: string, make: (partial: string) => Promise<T>): Promise<T> {
  const partial = `${path}.partial`;
  const remove = () => rm(partial, { recursive: true, force: true });
  await remove();
  await mkdir(partial, { recursive: true, mode: 0o700 });
  try {
    const made = await make(partial);
    // If there is an empty folder with the final name, the new folder replaces it.
    await rename(partial, path);
    return made;
  } catch (error) {
    await remove();
    throw error;
  }
}
