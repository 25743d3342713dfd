import type { ErasureNote } from '@kith/identity';
import { type BlobsConfig, openBlobs } from '@kith/store/blobs';
import { copyFiles } from '../copy-files.ts';

/**
 * Copies the bytes of a restored folder's files to another place. The folder has no bytes of erased users. But an earlier run,
 * with another list of erasures, may have copied bytes of these users to the other place. So this function first removes the
 * bytes of the erased users there.
 */
export async function bringFiles(
  of: { from: BlobsConfig; to: BlobsConfig; erased: readonly ErasureNote[] },
  progress: (line: string) => void,
): Promise<void> {
  const target = await openBlobs(of.to);
  try {
    for (const { projectId, userId } of of.erased) {
      if (userId !== undefined) await target.removeAll(`${projectId}/${userId}/`);
    }
  } finally {
    await target.close();
  }
  await copyFiles(of.from, of.to, progress);
}
