import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BlobsConfig, blobsAt } from '@kith/store/blobs';
import type { DataFolder } from './data-folder.ts';

/** The place of the files' bytes in a data folder, unless `STORAGE_URL` names another place. */
export function filesIn(folder: string): BlobsConfig {
  return { kind: 'folder', folder: join(folder, 'files') };
}

/** The folder of the files' bytes in the embedded form. `undefined` if the bytes are not in a folder. */
export function filesFolder(dataFolder: string, storageUrl: string | undefined): string | undefined {
  const place = storageUrl === undefined ? filesIn(dataFolder) : blobsAt(storageUrl);
  return place.kind === 'folder' ? place.folder : undefined;
}

/** The place of the files' bytes in a data folder, as a `STORAGE_URL`. */
export function filesUrl(folder: Pick<DataFolder, 'file'>): string {
  return pathToFileURL(folder.file('files')).href;
}

/** The place of the files' bytes in the distributed form. */
export function filesAt(to: { url: string; prefix: string }, storageUrl: string | undefined): BlobsConfig {
  if (storageUrl) return blobsAt(storageUrl);
  return { kind: 'gridfs', url: to.url, database: `${to.prefix}_storage` };
}
