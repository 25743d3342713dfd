// What suites and measurements of other packages need of its insides.
export { blobKey, filePrefix } from './file.ts';
export { accounts, files } from './store/collections.ts';
export { openStore } from './store/index.ts';
