export {
  BlobDamaged,
  type BlobEntry,
  BlobRemoved,
  type Blobs,
  type ByteRange,
  bucketName,
} from './blobs.ts';
export { copyBlobs, hasBlob, isEmpty } from './copy-blobs.ts';
export { type BlobsConfig, blobsAt, openBlobs } from './open-blobs.ts';
export { type BlobFaults, readRecorded } from './read-recorded.ts';
export { sweepFolder } from './sweep-folder.ts';
