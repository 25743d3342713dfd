// Internals of this service that tests and benchmarks of other packages need.
export { append, type Entry, emptyFeed, type Feed, type Owner } from './feed.ts';
export { listHandler } from './operations/list.ts';
export { entries, feeds } from './store/collections.ts';
export { openStore } from './store/index.ts';
export { feedKey, placeOf } from './store/place.ts';
