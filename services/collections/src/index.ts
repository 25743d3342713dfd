export { collectionsBackup } from './backup.ts';
export { type CollectionsOptions, manifest, startCollections } from './service.ts';
