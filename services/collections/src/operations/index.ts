// Every operation of the service, by its short name.
export { addEntity as 'add-entity' } from './add-entity.ts';
export { createSubCollection as 'create-sub-collection' } from './create-sub-collection.ts';
export { deleteCollection as delete } from './delete.ts';
export { getRoot as 'get-root' } from './get-root.ts';
export { importCollections as import } from './import-collections.ts';
export { importEntities as 'import-entities' } from './import-entities.ts';
export { isEntitySaved as 'is-entity-saved' } from './is-entity-saved.ts';
export { listEntities as 'list-entities' } from './list-entities.ts';
export { listSubCollections as 'list-sub-collections' } from './list-sub-collections.ts';
export { removeEntity as 'remove-entity' } from './remove-entity.ts';
export { rename } from './rename.ts';
