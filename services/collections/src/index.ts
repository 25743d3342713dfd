export { startCollections } from './service.ts';
