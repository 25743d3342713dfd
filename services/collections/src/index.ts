export { collectionsMove } from './move.ts';
export { type CollectionsOptions, startCollections } from './service.ts';
