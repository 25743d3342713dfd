export { anonymise } from './anonymise.ts';
export type { AnyStored } from './any-stored.ts';
export { DocumentsFile } from './documents-file.ts';
export { MadeUp } from './made-up.ts';
export { type PackedEntry, packEntries, unpackEntries } from './packed-entries.ts';
export { openBytes, sealBytes } from './sealed-bytes.ts';
export type {
  Copied,
  Follows,
  RecordedBlob,
  RecordedFile,
  ServiceBackup,
  Standing,
} from './service-backup.ts';
export { copyStillFiles, flush, snapshotFiles } from './snapshot-files.ts';
