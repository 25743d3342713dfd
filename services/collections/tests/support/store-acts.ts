import { collectionCreated, collectionDeleted } from '@kith/contracts';
import { expect } from 'vitest';
import { changed, collectionEvent, newCollection, type Owner } from '../../src/collection.ts';
import { entityEvent } from '../../src/entity.ts';
import type { CollectionStore } from '../../src/store/index.ts';

/** Stores a collection below `parentId`. If `parentId` is null, stores a root. Returns the collection as read from the store. */
export async function makeBelow(store: CollectionStore, owner: Owner, parentId: string | null) {
  const parent = parentId === null ? null : await store.find(owner, parentId);
  const made = newCollection(owner, { name: 'x', parent });
  expect(await store.insert(made, collectionEvent(collectionCreated, made))).toBe(true);
  const read = await store.find(owner, made.id);
  if (!read) throw new Error('not there');
  return read;
}

/** Saves an entity. Returns `false` if the collection does not exist, or if another change came first. */
export async function save(
  store: CollectionStore,
  owner: Owner,
  id: string,
  entityId: string,
): Promise<boolean> {
  const before = await store.find(owner, id);
  if (!before) return false;
  const after = changed(before, { entityCount: before.entityCount + 1, updatedAt: before.updatedAt + 1 });
  const entity = { entityId, addedAt: after.updatedAt, metadata: null };
  const change = { kind: 'add', entity } as const;
  return store.changeEntity(before, after, change, entityEvent(after, change));
}

/** Deletes a collection but does not purge it. */
export async function erase(store: CollectionStore, owner: Owner, id: string): Promise<void> {
  const before = await store.find(owner, id);
  if (!before) throw new Error('not there');
  const after = changed(before, {});
  expect(await store.delete(before, after, collectionEvent(collectionDeleted, after))).toBe(true);
}

/** Takes the events out of the outbox as a relay does, and then purges until nothing is left to do. */
export async function purgeAll(store: CollectionStore): Promise<void> {
  await store.outbox.unpublished(1_000);
  while (await store.purge());
}
