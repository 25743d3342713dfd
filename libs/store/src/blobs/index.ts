export type { BlobEntry, Blobs, ByteRange } from './blobs.ts';
export { copyBlobs } from './copy-blobs.ts';
export { type BlobsConfig, blobsAt, openBlobs } from './open-blobs.ts';
export { sweepFolder } from './sweep-folder.ts';
