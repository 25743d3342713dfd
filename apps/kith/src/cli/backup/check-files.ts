import { StartError } from '@kith/base';
import { type BlobsConfig, openBlobs } from '@kith/store/blobs';

/**
 * Throws `StartError` if there are no bytes at all in `place`, where a platform with files should have them. The platform then
 * keeps its files in another place, or the place is gone, for example because a disk is not mounted.
 */
export async function checkFiles(place: BlobsConfig): Promise<void> {
  const blobs = await openBlobs(place, { readOnly: true });
  try {
    if (await hasAny(blobs.list())) return;
  } catch (error) {
    // A folder that the disk cannot read is not empty. The copy finds out which files are damaged.
    if ((error as NodeJS.ErrnoException).code !== 'EIO') throw error;
    return;
  } finally {
    await blobs.close();
  }
  throw new StartError(
    `The platform has files, but their bytes are not in ${nameOf(place)}; set STORAGE_URL to the value that the platform uses.`,
  );
}

export async function hasAny(of: AsyncIterable<unknown>): Promise<boolean> {
  for await (const _ of of) return true;
  return false;
}

export function nameOf(place: BlobsConfig): string {
  if (place.kind === 'folder') return place.folder;
  return place.kind === 's3' ? 'the bucket' : 'GridFS';
}
