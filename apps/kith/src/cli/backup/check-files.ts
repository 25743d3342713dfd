import { StartError } from '@kith/base';
import { type BlobsConfig, openBlobs } from '@kith/store/blobs';

/**
 * Throws `StartError` if there are no bytes at all in `place`, where a platform with files should have them. The platform then
 * keeps its files in another place, or the place is gone, for example because a disk is not mounted. `files` are the platform's
 * files. They are read after `place`, because the last file may have been deleted meanwhile.
 */
export async function checkFiles(place: BlobsConfig, files?: AsyncIterable<unknown>): Promise<void> {
  if ((await hasBytes(place)) || (files && !(await hasAny(files)))) return;
  throw new StartError(
    `The platform has files, but their bytes are not in ${nameOf(place)}; set STORAGE_URL to the value that the platform uses.`,
  );
}

async function hasBytes(place: BlobsConfig): Promise<boolean> {
  const blobs = await openBlobs(place, { readOnly: true });
  try {
    return await hasAny(blobs.list());
  } catch (error) {
    // A folder that the disk cannot read does not count as empty. The copy finds out which files are damaged.
    if ((error as NodeJS.ErrnoException).code !== 'EIO') throw error;
    return true;
  } finally {
    await blobs.close();
  }
}

export async function hasAny(of: AsyncIterable<unknown>): Promise<boolean> {
  for await (const _ of of) return true;
  return false;
}

export function nameOf(place: BlobsConfig): string {
  if (place.kind === 'folder') return place.folder;
  return place.kind === 's3' ? 'the bucket' : 'GridFS';
}
