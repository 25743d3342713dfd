import { mkdir, rename, rm } from 'node:fs/promises';

/**
 * Makes a folder whole or not at all: under another name (`….partial`) first, which goes where it fails. What a process has left
 * there that was killed goes before.
 */
export async function whole<T>(path: string, make: (partial: string) => Promise<T>): Promise<T> {
  const partial = `${path}.partial`;
  const remove = () => rm(partial, { recursive: true, force: true });
  await remove();
  await mkdir(partial, { recursive: true, mode: 0o700 });
  try {
    const made = await make(partial);
    // Over one that is empty, if it is there.
    await rename(partial, path);
    return made;
  } catch (error) {
    await remove();
    throw error;
  }
}
