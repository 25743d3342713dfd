import { join } from 'node:path';
import { type BlobsConfig, blobsAt } from '@kith/store/blobs';

/** Where the bytes of files lie in a data folder, unless `STORAGE_URL` says otherwise. */
export function filesIn(folder: string): BlobsConfig {
  return { kind: 'folder', folder: join(folder, 'files') };
}

/** Where the bytes of files lie in the distributed form. */
export function filesAt(to: { url: string; prefix: string }, storageUrl: string | undefined): BlobsConfig {
  if (storageUrl) return blobsAt(storageUrl);
  return { kind: 'gridfs', url: to.url, database: `${to.prefix}_storage` };
}
