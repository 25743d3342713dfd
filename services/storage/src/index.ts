export { storageBackup } from './backup.ts';
export { manifest, type StorageOptions, startStorage } from './service.ts';
