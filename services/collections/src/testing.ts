// Internals of this service that tests and benchmarks of other packages need.
export { type CollectionRecord, newCollection } from './collection.ts';
export { listEntities } from './operations/list-entities.ts';
export { listSubCollections } from './operations/list-sub-collections.ts';
export { collections, entities } from './store/collections.ts';
export { entityPlace } from './store/entity-place.ts';
export { openStore } from './store/index.ts';
export { placeOf } from './store/place.ts';
export { storedEntity, storedOf } from './store/record.ts';
