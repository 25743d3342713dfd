export { startCollections } from './service.ts';
export { collectionsMove } from './store/move.ts';
