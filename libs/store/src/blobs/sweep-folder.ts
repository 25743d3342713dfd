import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Removes the entries of a folder that are older than `ms`. Such entries are left behind by processes that died. */
export async function sweepFolder(folder: string, ms: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found && found.mtimeMs < Date.now() - ms) await rm(path, { recursive: true, force: true });
  }
}
