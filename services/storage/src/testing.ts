// Internals of this service that tests and benchmarks of other packages need.
export { blobKey, filePrefix } from './file.ts';
export { accounts, files } from './store/collections.ts';
export { openStore } from './store/index.ts';
