export { type CollectionsOptions, startCollections } from './service.ts';
export { collectionsMove } from './store/move.ts';
