import { mkdir, rename, rm } from 'node:fs/promises';

/**
 * Makes a folder completely or not at all. The folder first has another name (`….partial`), and is removed if making it fails. If a
 * killed process has left a folder with this name, it is removed before.
 */
export async function whole<T>(path: string, make: (partial: string) => Promise<T>): Promise<T> {
  const partial = `${path}.partial`;
  const remove = () => rm(partial, { recursive: true, force: true });
  await remove();
  await mkdir(partial, { recursive: true, mode: 0o700 });
  try {
    const made = await make(partial);
    // If an empty folder has the final name, this replaces it.
    await rename(partial, path);
    return made;
  } catch (error) {
    await remove();
    throw error;
  }
}
