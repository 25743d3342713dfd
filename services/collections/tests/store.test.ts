import { randomUUID } from 'node:crypto';
import { collectionCreated, collectionDeleted, collectionRenamed } from '@kith/contracts';
import type { AnyCollection } from '@kith/store';
import { openDocuments } from '@kith/store/open';
import { createStore, handlerEngines } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type CollectionRecord,
  changed,
  collectionEvent,
  newCollection,
  type Owner,
} from '../src/collection.ts';
import { type EntityRecord, entityEvent } from '../src/entity.ts';
import { collections } from '../src/store/collections.ts';
import { entityPosition } from '../src/store/entity-place.ts';
import { type CollectionStore, openStore } from '../src/store/index.ts';
import { placeOf, positionOf } from '../src/store/place.ts';

describe.each(handlerEngines())('the collection store (%s)', (engine) => {
  let place: Awaited<ReturnType<typeof createStore>>;
  let store: CollectionStore;
  beforeAll(async () => {
    place = await createStore(engine);
    store = await openStore(place.config);
  });
  afterAll(async () => {
    await store?.close();
    await place?.[Symbol.asyncDispose]();
  });

  const someone = (): Owner => ({ projectId: randomUUID(), userId: randomUUID() });
  const add = async (record: CollectionRecord) => {
    expect(await store.insert(record, collectionEvent(collectionCreated, record))).toBe(true);
    return read(record);
  };
  /** A collection as read from the store. */
  const read = async (record: CollectionRecord) => {
    const found = await store.find(record, record.id);
    if (!found) throw new Error('not there');
    return found;
  };
  const renamed = (record: CollectionRecord, name: string): CollectionRecord => ({
    ...record,
    name,
    updatedAt: record.updatedAt + 1,
    seq: record.seq + 1,
  });
  const replace = (record: CollectionRecord, next: CollectionRecord) =>
    store.replace(record, next, collectionEvent(collectionRenamed, next));
  const seqsOf = async (record: CollectionRecord) => {
    const events = await store.outbox.unpublished(1_000);
    return events
      .filter(({ event }) => event.aggregate.id === record.id)
      .map(({ event }) => event.aggregate.seq);
  };

  test('returns collections as they were stored', async () => {
    const owner = someone();
    const root = newCollection(owner, { name: 'root', parent: null });
    await add(root);
    const child = newCollection(owner, { name: 'Bücher 📚 \u0000 عربى', parent: root });
    await add(child);
    expect(await store.root(owner)).toEqual(root);
    expect(await store.find(owner, root.id)).toEqual(root);
    expect(await store.find(owner, child.id)).toEqual(child);
    expect(child.ancestors).toEqual([root.id]);
  });

  test('shows an owner no collections of other owners', async () => {
    const owner = someone();
    const root = await add(newCollection(owner, { name: 'root', parent: null }));
    for (const other of [
      { ...owner, userId: randomUUID() },
      { ...owner, projectId: randomUUID() },
    ]) {
      expect(await store.find(other, root.id)).toBeNull();
      expect(await store.root(other)).toBeNull();
      expect(await store.children(other, root.id, { after: null, limit: 10 })).toBeNull();
    }
  });

  test('keeps the fields of a newer version until the collection is deleted', async () => {
    const newer: AnyCollection = { ...collections, schema: z.looseObject({}) };
    await using undo = new AsyncDisposableStack();
    const ahead = await openDocuments(place.config, { collections: [newer] });
    undo.defer(() => ahead.close());
    const record = await add(newCollection(someone(), { name: 'root', parent: null }));
    const id = placeOf(record);
    const stored = async () => (await ahead.get(newer, [id])).get(id)!;
    const target = await stored();
    await ahead.change([{ in: newer, target, set: { ...target.doc, colour: 'red' } }]);
    const before = await read(record);
    await replace(before, renamed(before, 'new'));
    expect((await stored()).doc).toMatchObject({ name: 'new', colour: 'red' });
    const last = await read(record);
    const deleted = changed(last, {});
    await store.delete(last, deleted, collectionEvent(collectionDeleted, deleted));
    expect(Object.keys((await stored()).doc)).toContain('deleted');
    expect(Object.keys((await stored()).doc)).not.toContain('colour');
  });

  test('stores only one root for each owner', async () => {
    const owner = someone();
    const roots = Array.from({ length: 10 }, () => newCollection(owner, { name: 'root', parent: null }));
    const inserted = await Promise.all(
      roots.map((root) => store.insert(root, collectionEvent(collectionCreated, root))),
    );
    expect(inserted.filter(Boolean)).toHaveLength(1);
    expect(await store.root(owner)).toEqual(roots[inserted.indexOf(true)]);
    const events = await store.outbox.unpublished(1_000);
    expect(events.filter(({ event }) => event.projectId === owner.projectId)).toHaveLength(1);
  });

  test('replaces a collection and stores the event, but only if the collection has the expected revision', async () => {
    const owner = someone();
    const root = await add(newCollection(owner, { name: 'root', parent: null }));
    const first = renamed(root, 'first');
    expect(await replace(root, first)).toBe(true);
    expect(await replace(root, renamed(root, 'late'))).toBe(false);
    expect(await store.find(owner, root.id)).toEqual(first);
    expect((await seqsOf(root)).sort()).toEqual([1, 2]);
    const gone = newCollection(owner, { name: 'never stored', parent: root });
    expect(await replace(gone, renamed(gone, 'x'))).toBe(false);
    expect(await seqsOf(gone)).toEqual([]);
  });

  test('accepts many changes of one collection while no event is published', async () => {
    const owner = someone();
    let current = await add(newCollection(owner, { name: 'root', parent: null }));
    for (let change = 0; change < 40; change++) {
      const next = renamed(current, `name ${change}`);
      expect(await replace(current, next)).toBe(true);
      current = await read(current);
      expect(current).toEqual(next);
    }
    const seqs = (await seqsOf(current)).sort((one, other) => one - other);
    expect(seqs).toEqual(Array.from({ length: 41 }, (_, index) => index + 1));
  });

  test('lists only the children of a collection, oldest first, after a position', async () => {
    const owner = someone();
    const root = await add(newCollection(owner, { name: 'root', parent: null }));
    const children: CollectionRecord[] = [];
    for (let age = 0; age < 5; age++) {
      const child = newCollection(owner, { name: `child ${age}`, parent: root });
      children.push({ ...child, createdAt: 1_000 * 10 ** age });
    }
    for (const child of [...children].reverse()) await add(child);
    await add(newCollection(owner, { name: 'grandchild', parent: children[0] ?? root }));
    const list = (after: string | null, limit: number) => store.children(owner, root.id, { after, limit });
    expect(await list(null, 10)).toEqual(children);
    expect(await list(null, 2)).toEqual(children.slice(0, 2));
    expect(await list(positionOf(children[1] ?? root), 2)).toEqual(children.slice(2, 4));
    expect(await list(positionOf(children[4] ?? root), 2)).toEqual([]);
    // Even if the position was made up, only children of this collection are listed.
    expect(await list('', 10)).toEqual(children);
    expect(await list('|', 10)).toEqual([]);
    expect(await list('\uffff', 10)).toEqual([]);
    expect(await list('z}~', 10)).toEqual([]);
  });

  test('marks events as published', async () => {
    const root = await add(newCollection(someone(), { name: 'root', parent: null }));
    const stored = (await store.outbox.unpublished(1_000)).filter(
      ({ event }) => event.aggregate.id === root.id,
    );
    expect(stored.map(({ event }) => event)).toEqual([
      expect.objectContaining({
        type: 'collection.created',
        projectId: root.projectId,
        actorId: root.userId,
      }),
    ]);
    await store.outbox.markPublished(stored.map(({ key }) => key));
    expect(await seqsOf(root)).toEqual([]);
  });

  test('finds all data again after it is reopened', async () => {
    const owner = someone();
    const root = await add(newCollection(owner, { name: 'root', parent: null }));
    const again = await openStore(place.config);
    try {
      await again.check();
      expect(await again.root(owner)).toEqual(root);
    } finally {
      await again.close();
    }
    await expect(again.check()).rejects.toThrow();
  });

  test('stores entities with their collection, but only if the collection has the expected revision', async () => {
    const owner = someone();
    const root = await add(newCollection(owner, { name: 'root', parent: null }));
    const change = async (kind: 'add' | 'remove', entity: EntityRecord) => {
      const before = await store.find(owner, root.id);
      if (!before) throw new Error('not there');
      const entityCount = before.entityCount + (kind === 'add' ? 1 : -1);
      const after = changed(before, { entityCount, updatedAt: entity.addedAt });
      const stored = () =>
        store.changeEntity(before, after, { kind, entity }, entityEvent(after, { kind, entity }));
      expect(await stored()).toBe(true);
      expect(await stored()).toBe(false);
      const now = await store.find(owner, root.id);
      expect(now).toEqual(after);
      return now as CollectionRecord;
    };
    const [one, two, three] = ['a', 'a|b', 'c'].map((entityId, index) => ({
      entityId,
      addedAt: 1_000 * 10 ** index,
      metadata: index === 1 ? { 'x.y': { $z: [null] } } : null,
    })) as [EntityRecord, EntityRecord, EntityRecord];
    await change('add', one);
    await change('add', two);
    const full = await change('add', three);
    const list = (from: { skip: number } | { after: string }, newestFirst = false) =>
      store.entities(full, { from, limit: 2, newestFirst });
    expect(await list({ skip: 0 })).toEqual([one, two]);
    expect(await list({ skip: 2 })).toEqual([three]);
    expect(await list({ after: entityPosition(one) })).toEqual([two, three]);
    expect(await list({ skip: 1 }, true)).toEqual([two, one]);
    expect(await list({ after: entityPosition(two) }, true)).toEqual([one]);
    expect(await store.entity(full, 'a|b')).toEqual(two);
    expect(await store.entity(full, 'b')).toBeNull();
    expect(await store.holding(owner, 'a')).toEqual([full]);
    expect(await store.holding(someone(), 'a')).toEqual([]);
    const less = await change('remove', two);
    expect(await store.entity(less, 'a|b')).toBeNull();
    expect(await store.entities(less, { from: { skip: 0 }, limit: 9, newestFirst: true })).toEqual([
      three,
      one,
    ]);
  });

  test('deletes a collection with everything below it, but only if the collection has the expected revision', async () => {
    const owner = someone();
    const root = await add(newCollection(owner, { name: 'root', parent: null }));
    const top = await add(newCollection(owner, { name: 'top', parent: root }));
    const below = await add(newCollection(owner, { name: 'below', parent: top }));
    const erase = (before: CollectionRecord) => {
      const deleted = changed(before, {});
      return store.delete(before, deleted, collectionEvent(collectionDeleted, deleted));
    };
    expect(await replace(top, renamed(top, 'other'))).toBe(true);
    expect(await erase(top)).toBe(false);
    expect(await store.find(owner, below.id)).toEqual(below);
    const now = await read(top);
    expect(await erase(now)).toBe(true);
    expect(await erase(now)).toBe(false);
    const late = newCollection(owner, { name: 'late', parent: below });
    expect(await store.insert(late, collectionEvent(collectionCreated, late))).toBe(false);
    for (const { id } of [top, below, late]) expect(await store.find(owner, id)).toBeNull();
    expect(await store.children(owner, root.id, { after: null, limit: 10 })).toEqual([]);
    expect((await seqsOf(top)).sort()).toEqual([1, 2, 3]);
    expect(await seqsOf(late)).toEqual([]);
  });
});
