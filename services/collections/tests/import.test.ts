import { randomUUID } from 'node:crypto';
import { Turns } from '@kith/base';
import { collectionDeleted, internalSubject, knownUsers } from '@kith/contracts';
import { successReply } from '@kith/service';
import { createRuntime, createStore, handlerEngines } from '@kith/testing';
import { MongoClient } from 'mongodb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type CollectionRecord, changed, collectionEvent, type Owner } from '../src/collection.ts';
import { importedId, importedRecord } from '../src/imported.ts';
import { importCollections } from '../src/operations/import-collections.ts';
import { Ended, keepEndedMs } from '../src/store/ended.ts';
import { type CollectionStore, openStore } from '../src/store/index.ts';
import { placeOf } from '../src/store/place.ts';
import { countStored } from './support/raw.ts';
import { erase, purgeAll, save } from './support/store-acts.ts';

const at = Date.parse('2020-01-02T03:04:05.678Z');

/**
 * The document that MongoDB stores while a collection is being made. It does not contain the collection yet. It only reserves
 * the id under which the collection will be stored.
 */
function beingMade(record: CollectionRecord) {
  return { _id: placeOf(record), rev: Date.now(), emptyAt: new Date(), k: { parent: record.parentId } };
}

describe.each(handlerEngines())('imports in the store (%s)', (engine) => {
  let place: Awaited<ReturnType<typeof createStore>>;
  let store: CollectionStore;
  let owner: Owner;
  beforeEach(async () => {
    place = await createStore(engine);
    store = await openStore(place.config);
    owner = { projectId: randomUUID(), userId: randomUUID() };
  });
  afterEach(async () => {
    await store.close();
    await place[Symbol.asyncDispose]();
  });
  const rootOf = async () => (await store.imports.roots([{ ...owner, at }])).get(owner.userId)!;
  const below = (parent: Awaited<ReturnType<typeof rootOf>>, id: string = randomUUID()) =>
    importedRecord(owner, { id, name: 'x', parent, at });

  it('a root is made once, and without an event', async () => {
    const root = await rootOf();
    expect(await rootOf()).toEqual(root);
    expect(await store.root(owner)).toEqual(root);
    expect(root).toMatchObject({ seq: 0, createdAt: at });
    expect(await store.outbox.unpublished(10)).toEqual([]);
  });

  it('a root is as old as the oldest row of its owner, even if the request has rows of other owners', async () => {
    await using runtime = await createRuntime(engine);
    const { bus } = runtime;
    const { projectId } = owner;
    const others = [randomUUID(), randomUUID()] as const;
    const ids = [owner.userId, ...others];
    await bus.serve(internalSubject(bus.prefix, knownUsers), 'identity', async () =>
      successReply(200, { isProject: true, ids, foreignIds: [] }, {}),
    );
    const rows = [
      { userId: owner.userId, id: 'b', name: 'x', createdAt: '2021-05-01T00:00:00.000Z' },
      { userId: owner.userId, id: 'a', name: 'x', createdAt: '2021-04-01T00:00:00.000Z' },
      { userId: others[0], id: 'a', name: 'x', createdAt: '2022-01-01T00:00:00.000Z' },
      { userId: others[1], id: 'a', parentId: 'nowhere', name: 'x', createdAt: '2019-01-01T00:00:00.000Z' },
    ];
    const app = { store, bus, relay: { kick: () => {} }, turns: new Turns() };
    const context = { requestId: randomUUID(), deadline: Date.now() + 60_000 };
    const answer = await importCollections.handle(
      { ...context, params: { projectId }, body: { rows } } as never,
      app,
    );
    expect(answer).toEqual({ imported: 3, unchanged: 0, rejected: [{ row: 3, reason: 'parent-not-found' }] });
    const timeOf = async (userId: string) => (await store.root({ projectId, userId }))?.createdAt;
    expect(await timeOf(owner.userId)).toBe(Date.parse('2021-04-01'));
    expect(await timeOf(others[0])).toBe(Date.parse('2022-01-01'));
  });

  it('a collection is imported with its parent, but not if a collection above it was deleted meanwhile', async () => {
    const root = await rootOf();
    const [parent, other] = [below(root), below(root)];
    const child = below(parent);
    expect(await store.imports.insert([parent, child, other])).toEqual(['stored', 'stored', 'stored']);
    const found = await store.imports.find([{ ...owner, id: child.id }]);
    expect(found.get(child.id)).toMatchObject({ ancestors: [root.id, parent.id], seq: 0 });

    const collection = (await store.find(owner, parent.id))!;
    const gone = changed(collection, {});
    expect(await store.delete(collection, gone, collectionEvent(collectionDeleted, gone))).toBe(true);
    const late = below(child);
    expect(await store.imports.insert([late, below(late), below(other)])).toEqual([
      'deleted',
      'deleted',
      'stored',
    ]);
    expect((await store.imports.find([{ ...owner, id: child.id }])).size).toBe(0);
    const saving = { collection, entities: [{ entityId: 'one', addedAt: at, metadata: null }] };
    expect(await store.imports.save([saving])).toEqual([null]);
  });

  it('an import completes collections that a process left half made when it died', async ({ skip }) => {
    const { config } = place;
    skip(config.kind !== 'mongo', 'On SQLite a batch is one transaction.');
    if (config.kind !== 'mongo') return;
    const root = await rootOf();
    const parent = below(root);
    const child = below(parent);
    await using client = new MongoClient(config.url);
    const half = [parent, child].map(beingMade);
    await client.db(config.database).collection<(typeof half)[number]>('collections').insertMany(half);
    expect((await store.imports.find([{ ...owner, id: child.id }])).size).toBe(0);
    expect(await store.imports.insert([parent, child])).toEqual(['stored', 'stored']);
    expect((await store.imports.find([{ ...owner, id: child.id }])).size).toBe(1);
  });

  it('the sweep removes a half-made collection, but not too early, even if the clock of its machine is an hour ahead', async ({
    skip,
  }) => {
    const { config } = place;
    skip(config.kind !== 'mongo', 'On SQLite a collection is made in one transaction.');
    if (config.kind !== 'mongo') return;
    const made = below(await rootOf());
    await using client = new MongoClient(config.url);
    const document = beingMade(made);
    const stored = client.db(config.database).collection<typeof document>('collections');
    await stored.insertOne(document);
    const other = await openStore(config);
    try {
      vi.useFakeTimers({ toFake: ['Date'] });
      vi.setSystemTime(Date.now() + 60 * 60_000);
      await other.sweep();
      expect(await stored.countDocuments({ _id: document._id })).toBe(1);
      vi.setSystemTime(Date.now() + 11 * 60_000);
      await other.sweep();
      expect(await stored.countDocuments({ _id: document._id })).toBe(0);
    } finally {
      vi.useRealTimers();
      await other.close();
    }
  });

  it('an import returns an existing collection unchanged, no matter which parent the row names', async () => {
    const root = await rootOf();
    const [one, two] = [below(root), below(root)];
    expect(await store.imports.insert([one, two])).toEqual(['stored', 'stored']);
    const renamed = { ...one, name: 'y' };
    const moved = importedRecord(owner, { id: one.id, name: 'x', parent: two, at: at + 1 });
    const third = below(two);
    expect(await store.imports.insert([renamed, third])).toEqual([one, 'stored']);
    expect(await store.imports.insert([moved])).toEqual([one]);
    expect(await store.find(owner, one.id)).toEqual(one);
  });

  it('a deleted collection is not imported again, even after its purge, no matter which parent the row names', async () => {
    const root = await rootOf();
    const parent = below(root, importedId(owner, 'parent'));
    const child = below(parent, importedId(owner, 'child'));
    const grandchild = below(child, importedId(owner, 'grandchild'));
    const kept = below(root, importedId(owner, 'kept'));
    const all = [parent, child, grandchild, kept];
    const moved = [parent, child, grandchild].map(({ id }) =>
      importedRecord(owner, { id, name: 'x', parent: kept, at: at + 1 }),
    );
    expect(await store.imports.insert(all)).toEqual(all.map(() => 'stored'));
    expect(await save(store, owner, grandchild.id, 'one')).toBe(true);
    expect(await save(store, owner, kept.id, 'one')).toBe(true);
    const changedKept = await store.find(owner, kept.id);
    await erase(store, owner, parent.id);
    const expectNone = async () => {
      expect(await store.imports.insert(all)).toEqual(['deleted', 'deleted', 'deleted', changedKept]);
      expect(await store.imports.insert(moved)).toEqual(['deleted', 'deleted', 'deleted']);
      for (const { id } of moved) expect(await store.find(owner, id)).toBeNull();
      expect((await store.holding(owner, 'one')).map(({ id }) => id)).toEqual([kept.id]);
    };
    await expectNone();
    expect((await countStored(place.config, owner)).collections).toBe(5);
    await purgeAll(store);
    await expectNone();
    expect(await countStored(place.config, owner)).toEqual({ collections: 2, entities: 1 });
    // Only the ids of deleted collections are refused. So a collection that has never existed can still be imported.
    const free = below(root, importedId(owner, 'free'));
    expect(await store.imports.insert([free])).toEqual(['stored']);

    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + keepEndedMs + 1_000 });
    try {
      await store.sweep();
      expect(await store.imports.insert(moved)).toEqual(['stored', 'stored', 'stored']);
    } finally {
      vi.useRealTimers();
    }
  });

  it('if a collection is deleted and purged during its import, neither this collection nor any collection below it comes back', async () => {
    const root = await rootOf();
    const [parent, other] = [below(root, importedId(owner, 'parent')), below(root)];
    const child = below(parent, importedId(owner, 'child'));
    expect(await store.imports.insert([parent, child, other])).toEqual(['stored', 'stored', 'stored']);
    const [movedParent, movedChild] = [parent, child].map(({ id }) =>
      importedRecord(owner, { id, name: 'x', parent: other, at: at + 1 }),
    );
    const late = below(movedParent!, importedId(owner, 'late'));
    const among = Ended.prototype.among;
    const check = vi.spyOn(Ended.prototype, 'among').mockImplementationOnce(async function (
      this: Ended,
      some,
    ) {
      const found = await among.call(this, some);
      await erase(store, owner, parent.id);
      await purgeAll(store);
      return found;
    });
    const rows = [movedParent!, late, movedChild!, below(other)];
    expect(await store.imports.insert(rows)).toEqual(['deleted', 'deleted', 'deleted', 'stored']);
    check.mockRestore();
    for (const { id } of rows.slice(0, 3)) expect(await store.find(owner, id)).toBeNull();
    await purgeAll(store);
    expect(await countStored(place.config, owner)).toEqual({ collections: 3, entities: 0 });
  });

  it('the end of an account removes all records of its deleted collections, even if the purge comes later', async () => {
    const before = await rootOf();
    const [one, two] = ['one', 'two'].map((name) => below(before, importedId(owner, name)));
    expect(await store.imports.insert([one!, two!])).toEqual(['stored', 'stored']);
    await erase(store, owner, one!.id);
    await erase(store, owner, before.id);
    await store.forgetEnded(owner);
    await purgeAll(store);
    expect(await countStored(place.config, owner)).toEqual({ collections: 0, entities: 0 });
    const after = await rootOf();
    const again = [one, two].map((record) => below(after, record!.id));
    expect(await store.imports.insert(again)).toEqual(['stored', 'stored']);
  });

  it('the end of a project removes the records of its deleted collections', async () => {
    const before = await rootOf();
    const id = importedId(owner, 'one');
    expect(await store.imports.insert([below(before, id)])).toEqual(['stored']);
    await erase(store, owner, id);
    await erase(store, owner, before.id);
    expect(await store.eraseProject(owner.projectId)).toBe(false);
    await purgeAll(store);
    const after = await rootOf();
    expect(await store.imports.insert([below(after, id)])).toEqual(['deleted']);
    await erase(store, owner, after.id);
    await purgeAll(store);
    expect(await store.eraseProject(owner.projectId)).toBe(true);
    expect(await store.imports.insert([below(await rootOf(), id)])).toEqual(['stored']);
  });

  // If the imports deadlock, some engines abort a write to end the deadlock. In each round, it may take seconds until the abort
  // comes, so the test has a long time limit.
  it('concurrent imports of the same rows store each row once, and report none as deleted', {
    timeout: 120_000,
  }, async () => {
    const other = await openStore(place.config);
    try {
      for (let round = 0; round < 3; round++) {
        const root = await rootOf();
        const top = Array.from({ length: 10 }, () => below(root));
        const rows = [...top, ...top.map((parent) => below(parent))];
        // These records have a later time than `rows`. So they have the same ids as `rows`, but they are stored under other
        // keys.
        const late = rows.map((record) => ({ ...record, createdAt: record.createdAt + 1 }));
        const told = await Promise.all([
          store.imports.insert(rows),
          other.imports.insert(rows),
          other.imports.insert([...late].reverse()),
        ]);
        expect(told.flat()).not.toContain('deleted');
        const found = await store.imports.find(rows);
        expect(new Set(found.keys())).toEqual(new Set(rows.map(({ id }) => id)));
      }
    } finally {
      await other.close();
    }
  });

  it('entities are saved once, and not in a collection that has changed since it was read', async () => {
    const root = await rootOf();
    const entities = ['one', 'two'].map((entityId) => ({ entityId, addedAt: at + 1, metadata: null }));
    expect(await store.imports.save([{ collection: root, entities }])).toEqual([[]]);
    const others = entities.map((entity) => ({ ...entity, addedAt: at, metadata: { page: 1 } }));
    expect(await store.imports.save([{ collection: root, entities: others }])).toEqual([entities]);
    const more = [{ entityId: 'three', addedAt: at, metadata: null }];
    expect(await store.imports.save([{ collection: root, entities: more }])).toEqual([null]);
    expect(await store.root(owner)).toMatchObject({ entityCount: 2, updatedAt: at + 1, seq: 0 });
  });

  it('rows with times in the future do not move the time of a collection into the future', async () => {
    const root = await rootOf();
    const addedAt = Date.parse('2199-01-02T03:04:05.000Z');
    const entities = [{ entityId: 'late', addedAt, metadata: null }];
    expect(await store.imports.save([{ collection: root, entities }])).toEqual([[]]);
    expect((await store.root(owner))?.updatedAt).toBeLessThanOrEqual(Date.now());
    const record = importedRecord(owner, { id: randomUUID(), name: 'late', parent: root, at: addedAt });
    expect(record.createdAt).toBe(addedAt);
    expect(record.updatedAt).toBeLessThanOrEqual(Date.now());
  });
});
