import { randomUUID } from 'node:crypto';
import { Turns } from '@kith/base';
import type { Bus } from '@kith/bus';
import { listEntities, listSubCollections, type OperationSpec } from '@kith/contracts';
import { openDocuments } from '@kith/store/open';
import {
  callerOf,
  callOperation,
  createStore,
  handlerEngines,
  serveAlone,
  type WatchedStore,
  watchReads,
} from '@kith/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CollectionRecord, Owner } from '../src/collection.ts';
import { listEntities as listEntitiesHandler } from '../src/operations/list-entities.ts';
import { listSubCollections as listSubCollectionsHandler } from '../src/operations/list-sub-collections.ts';
import { collections, declared } from '../src/store/collections.ts';
import { type CollectionStore, openStore } from '../src/store/index.ts';
import { placeOf, positionOf } from '../src/store/place.ts';
import { deleting } from '../src/store/record.ts';
import { storeEntities } from './support/long-lists.ts';
import { seedBelow } from './support/raw.ts';
import { makeBelow, save } from './support/store-acts.ts';

const count = 20_100;

describe.each(handlerEngines())('the database reads of a list (%s)', (engine) => {
  const ends = new AsyncDisposableStack();
  const owner: Owner = { projectId: randomUUID(), userId: randomUUID() };
  let place: Awaited<ReturnType<typeof createStore>>;
  let watched: WatchedStore;
  let store: CollectionStore;
  let bus: Bus;
  /** A collection two levels below the root. So the collections above it have to be checked, too. */
  let shelf: CollectionRecord;
  let children: CollectionRecord[];
  /** The ids of the shelf's entities, oldest first. */
  let entityIds: string[];

  beforeAll(async () => {
    place = ends.use(await createStore(engine));
    const { config } = place;
    watched = ends.use(await watchReads(config));
    store = ends.adopt(await openStore(watched.config), (opened) => opened.close());
    const handlers = [listEntitiesHandler, listSubCollectionsHandler];
    const parts = { store, relay: { kick: () => undefined }, turns: new Turns() };
    bus = ends.use(await serveAlone(handlers, (own) => ({ ...parts, bus: own })));
    const root = await makeBelow(store, owner, null);
    const room = await makeBelow(store, owner, root.id);
    shelf = await makeBelow(store, owner, room.id);
    children = await seedBelow(config, owner, { parentId: shelf.id, width: 300, levels: 1 });
    children.sort((one, other) => (positionOf(one) < positionOf(other) ? -1 : 1));
    entityIds = await storeEntities(config, shelf, count);
  });
  afterAll(() => ends.disposeAsync());

  /** Asks for a list. Expects at most two round trips. The rows must be read as a range of their keys. */
  async function flat(spec: OperationSpec, query: string) {
    let answer: Awaited<ReturnType<typeof callOperation>> | undefined;
    const trips = await watched.tripsOf(async () => {
      const { projectId, userId } = owner;
      const params = { collectionId: shelf.id };
      answer = await callOperation(bus, spec, { projectId, caller: callerOf(userId), params, query });
    });
    expect(answer?.status).toBe(200);
    expect(trips.map((reads) => reads.map(({ asked }) => asked)).slice(2)).toEqual([]);
    // For sub-collections, the collections above them are read from the same table as the rows. So not every read of the table
    // has to be a range of keys.
    const table = spec === listEntities ? 'entities' : 'collections';
    const asked = trips.flat().filter((read) => read.table === table);
    const plans = await Promise.all(asked.map(({ plan }) => plan()));
    expect(plans).toContainEqual(expect.objectContaining({ isKeyRange: true }));
    return answer!;
  }

  test('sub-collections: any page takes at most two round trips, and its rows are read as a range of keys', async () => {
    const listed: string[] = [];
    for (let next: string | undefined = 'limit=100'; next !== undefined; ) {
      const answer: Awaited<ReturnType<typeof flat>> = await flat(listSubCollections, next);
      listed.push(...answer.body.map(({ id }: { id: string }) => id));
      next = answer.next;
    }
    expect(listed).toEqual(children.map(({ id }) => id));
  });

  test('sub-collections: deleted collections that are not purged yet cost few reads', async () => {
    const parent = await makeBelow(store, owner, shelf.ancestors[0]!);
    const { config } = place;
    const siblings = await seedBelow(config, owner, { parentId: parent.id, width: 300, levels: 1 });
    siblings.sort((one, other) => (positionOf(one) < positionOf(other) ? -1 : 1));
    const documents = await openDocuments(config, declared);
    const gone = await documents.get(collections, siblings.slice(0, -3).map(placeOf));
    await documents.change([...gone.values()].map(deleting));
    await documents.close();
    let listed: CollectionRecord[] | null = [];
    const trips = await watched.tripsOf(async () => {
      listed = await store.children(owner, parent.id, { after: null, limit: 2 });
    });
    expect(listed.map(({ id }) => id)).toEqual(siblings.slice(-3, -1).map(({ id }) => id));
    expect(trips.flat().length).toBeLessThan(10);
  });

  test.each(['asc', 'desc'])(
    'entities: any page takes at most two round trips, and its rows are read as a range of keys (%s)',
    async (sortDir) => {
      const inOrder = sortDir === 'asc' ? entityIds : entityIds.toReversed();
      const page = async (query: string) => {
        const { body, next } = await flat(listEntities, query);
        expect(body.pagination.totalItems).toBe(count);
        return { ids: body.data.map(({ id }: { id: string }) => id), next };
      };
      const first = await page(`limit=100&sortDir=${sortDir}`);
      expect(first.ids).toEqual(inOrder.slice(0, 100));
      expect((await page(first.next!)).ids).toEqual(inOrder.slice(100, 200));
      for (const number of [7, 1_000, 1_003, 1_005]) {
        const { ids } = await page(`limit=20&page=${number}&sortDir=${sortDir}`);
        expect(ids).toEqual(inOrder.slice(20 * (number - 1), 20 * number));
      }
    },
  );

  test('a page past the end is empty, and its total is right', async () => {
    const { projectId, userId } = owner;
    const params = { collectionId: shelf.id };
    for (const page of [1_006, 50_000]) {
      const asked = { projectId, caller: callerOf(userId), params, query: `limit=20&page=${page}` };
      const { body } = await callOperation(bus, listEntities, asked);
      expect(body).toMatchObject({ data: [], pagination: { totalItems: count, hasMore: false } });
    }
  });

  test('a collection of another user is not listed', async () => {
    const none = { projectId: owner.projectId, caller: callerOf(randomUUID()) };
    for (const spec of [listEntities, listSubCollections]) {
      const answer = await callOperation(bus, spec, { ...none, params: { collectionId: shelf.id } });
      expect([answer.status, answer.body.code]).toEqual([404, 'collection/not-found']);
    }
    expect(await save(store, owner, shelf.id, 'one more')).toBe(true);
  });
});
