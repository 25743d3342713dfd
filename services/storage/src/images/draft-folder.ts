import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartError } from '@kith/base';

/**
 * The folder that holds images while they are read and rendered. Without a data folder, each user of the machine has a separate
 * draft folder, because users cannot write to each other's folders. All processes of a user share the folder, so another
 * process can remove the files that a dead process has left.
 */
export function draftFolderIn(dataFolder: string | undefined): string {
  return dataFolder ? join(dataFolder, 'drafts') : join(tmpdir(), `kith-drafts-${process.geteuid?.() ?? ''}`);
}

/**
 * Makes the folder if it is missing. If this process cannot write to it, throws `StartError`, because otherwise every upload of
 * an image would fail later.
 */
export async function makeDraftFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await access(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(
      `The folder for images that are being rendered, ${path}, cannot be written to (${code}).`,
      {
        cause: error,
      },
    );
  }
}
