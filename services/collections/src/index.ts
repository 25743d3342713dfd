export { collectionsBackup } from './backup.ts';
export { collectionsMove } from './move.ts';
export { type CollectionsOptions, startCollections } from './service.ts';
