export { storageBackup } from './backup.ts';
export { blobsOf, manifest, type StorageOptions, startStorage } from './service.ts';
