export { type BlobEntry, BlobRemoved, type Blobs, type ByteRange } from './blobs.ts';
export { copyBlobs } from './copy-blobs.ts';
export { type BlobsConfig, blobsAt, openBlobs } from './open-blobs.ts';
export { sweepFolder } from './sweep-folder.ts';
