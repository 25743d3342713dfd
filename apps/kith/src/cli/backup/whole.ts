import { mkdir, rename, rm } from 'node:fs/promises';

/**
 * Makes a folder whole or not at all. It is made under another name first (`….partial`), and removed if that fails. What a killed
 * process has left under that name is removed before.
 */
export async function whole<T>(path: string, make: (partial: string) => Promise<T>): Promise<T> {
  const partial = `${path}.partial`;
  const remove = () => rm(partial, { recursive: true, force: true });
  await remove();
  await mkdir(partial, { recursive: true, mode: 0o700 });
  try {
    const made = await make(partial);
    // Replaces the folder of that name, if there is one and it is empty.
    await rename(partial, path);
    return made;
  } catch (error) {
    await remove();
    throw error;
  }
}
