import { fileURLToPath } from 'node:url';
import { redactUrl, StartError } from '@kith/base';
import type { Blobs } from './blobs.ts';
import { FolderBlobs } from './folder-blobs.ts';

/** Where the bytes of files are stored. */
export type BlobsConfig =
  | { kind: 'folder'; folder: string }
  | { kind: 'gridfs'; url: string; database: string }
  | { kind: 's3'; url: string };

/** What a `STORAGE_URL` names: `file:///…` or `s3://…`. Throws `StartError`. */
export function blobsAt(text: string): BlobsConfig {
  if (text.startsWith('s3:')) return { kind: 's3', url: text };
  if (URL.canParse(text) && new URL(text).protocol === 'file:')
    return { kind: 'folder', folder: fileURLToPath(text) };
  throw new StartError(`STORAGE_URL ${redactUrl(text)} is neither file:///folder nor s3://….`);
}

/**
 * Opens the store of files. A driver is loaded only for the kind that needs it. With `readOnly`, this process need not have the
 * right to write to the folder. Throws `StartError`.
 */
export async function openBlobs(config: BlobsConfig, options: { readOnly?: boolean } = {}): Promise<Blobs> {
  if (config.kind === 'folder') return FolderBlobs.open(config.folder, options);
  if (config.kind === 's3') return (await import('./s3-blobs.ts')).S3Blobs.open(config.url);
  return (await import('./gridfs-blobs.ts')).GridFsBlobs.open(config);
}
