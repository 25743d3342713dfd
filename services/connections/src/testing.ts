// Internals of this service that tests and benchmarks of other packages need.
export { type Entry, entryKey, type ListName } from './listing.ts';
export { listHandler } from './operations/list.ts';
export { listReceivedHandler } from './operations/list-received.ts';
export { entries, profiles, totals } from './store/collections.ts';
export { openStore } from './store/index.ts';
export { totalsId } from './store/keys.ts';
export { storedEntry } from './store/stored.ts';
