import { randomUUID } from 'node:crypto';
import { type Collection, isEntitySaved } from '@kith/contracts';
import { handlerEngines, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore } from '../../src/store/index.ts';
import { type Acts, actsOf, type EntityList } from '../support/acts.ts';
import { seedBelow } from '../support/raw.ts';
import { startWorld, type World } from '../support/world.ts';

describe.each(handlerEngines())('saved entities (%s)', (engine) => {
  let world: World;
  let user: Acts;
  let root: Collection;
  beforeAll(async () => {
    world = await startWorld(engine);
    user = actsOf(world, randomUUID());
    root = await user.root();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const fill = async (count: number) => {
    const { id } = await user.make(root.id);
    const ids = Array.from({ length: count }, (_, index) => `entity ${index}`);
    for (const entityId of ids) await user.add(id, { entityId });
    return { id, ids };
  };
  const dataOf = (answer: { json: unknown }) => (answer.json as EntityList).data.map(({ id }) => id);

  test('are added, removed and counted', async () => {
    const { id } = await user.make(root.id, 'Bücher');
    const before = Date.now();
    const metadata = { note: 'ü', 'a.b': { $set: [1, null, '\u0000'] }, '': true };
    const added = await user.add(id.toUpperCase(), { entityId: ' book|1 ', metadata });
    expect(added.status).toBe(200);
    expect(added.json).toEqual({ success: true, collection: { id, entityCount: 1 } });
    expect((await user.add(id, { entityId: 'book', metadata: null })).json).toMatchObject({
      collection: { entityCount: 2 },
    });
    const listed = await user.entities(id);
    expect(listed.status).toBe(200);
    expect(listed.json).toEqual({
      data: [
        { id: 'book', isSaved: true, addedAt: expect.any(String), metadata: null },
        { id: 'book|1', isSaved: true, addedAt: expect.any(String), metadata },
      ],
      pagination: { page: 1, pageSize: 20, totalPages: 1, totalItems: 2, hasMore: false },
    });
    const { addedAt } = (listed.json as EntityList).data[1] ?? { addedAt: '' };
    expect(Date.parse(addedAt)).toBeGreaterThanOrEqual(before);
    expect((await user.saved(' book|1')).json).toEqual({
      saved: true,
      collections: [{ id, name: 'Bücher' }],
    });
    const children = (await user.children(root.id)).json as Collection[];
    expect(children.find((child) => child.id === id)).toMatchObject({ entityCount: 2 });

    const taken = await user.take(id, 'book|1');
    expect(taken.status).toBe(200);
    expect(taken.json).toEqual({ success: true, collection: { id, entityCount: 1 } });
    expect(dataOf(await user.entities(id))).toEqual(['book']);
    expect((await user.saved('book|1')).json).toEqual({ saved: false, collections: [] });
  });

  test('stay unchanged when they are added again, and no event is published', async () => {
    const events = await world.events();
    const { id } = await user.make(root.id);
    const own = () => events.filter(({ aggregate }) => aggregate.id === id);
    await user.add(id, { entityId: 'e', metadata: { first: 1 } });
    const first = await user.entities(id);
    expect((await user.add(id, { entityId: 'e', metadata: { second: 2 } })).json).toEqual({
      success: true,
      collection: { id, entityCount: 1 },
    });
    expect((await user.entities(id)).json).toEqual(first.json);
    await user.take(id, 'other');
    await user.take(id, 'e');
    expect((await user.take(id, 'e')).json).toEqual({ success: true, collection: { id, entityCount: 0 } });
    await user.add(id, { entityId: 'e' });
    expect((await user.entities(id)).json).toMatchObject({ data: [{ id: 'e', metadata: null }] });
    await user.rename(id, 'last');
    await waitFor(() => own().some(({ type }) => type === 'collection.renamed'));
    const bySeq = new Map(own().map((event) => [event.aggregate.seq, event]));
    const inOrder = [...bySeq.values()].sort((one, other) => one.aggregate.seq - other.aggregate.seq);
    expect(inOrder.map(({ type }) => type)).toEqual([
      'collection.created',
      'collection.entity-added',
      'collection.entity-removed',
      'collection.entity-added',
      'collection.renamed',
    ]);
    const common = { collectionId: id, userId: root.userId, entityId: 'e' };
    expect(inOrder[1]).toMatchObject({
      actorId: root.userId,
      aggregate: { type: 'collection', id, seq: 2 },
      data: {
        ...common,
        entityCount: 1,
        addedAt: (first.json as EntityList).data[0]?.addedAt,
        metadata: { first: 1 },
      },
    });
    expect(inOrder[2]?.data).toEqual({ ...common, entityCount: 0 });
  });

  test('are listed by page, in either order', async () => {
    const { id, ids } = await fill(7);
    const newest = [...ids].reverse();
    expect(dataOf(await user.entities(id, 'limit=3'))).toEqual(newest.slice(0, 3));
    const last = await user.entities(id, 'limit=3&page=3&sortDir=desc');
    expect(last.json).toMatchObject({
      data: [{ id: newest[6] }],
      pagination: { page: 3, pageSize: 3, totalPages: 3, totalItems: 7, hasMore: false },
    });
    expect(last.next).toBeUndefined();
    expect(dataOf(await user.entities(id, 'limit=3&page=2&sortDir=asc'))).toEqual(ids.slice(3, 6));
    for (const page of ['4', '99999999999999999999']) {
      expect((await user.entities(id, `limit=3&page=${page}`)).json).toMatchObject({
        data: [],
        pagination: { totalItems: 7, hasMore: false },
      });
    }
    expect((await user.entities(id, 'limit=1000')).json).toMatchObject({ pagination: { pageSize: 100 } });
    const { id: empty } = await user.make(root.id);
    expect((await user.entities(empty)).json).toEqual({
      data: [],
      pagination: { page: 1, pageSize: 20, totalPages: 0, totalItems: 0, hasMore: false },
    });
  });

  test('are read by cursor, even if entities are added and removed meanwhile', async () => {
    for (const sortDir of ['asc', 'desc']) {
      const { id, ids } = await fill(9);
      const inOrder = sortDir === 'asc' ? ids : [...ids].reverse();
      const first = await user.entities(id, `limit=3&sortDir=${sortDir}&page=7`);
      expect(first.next).toBeUndefined();
      const start = await user.entities(id, `limit=3&sortDir=${sortDir}&page=1`);
      expect(start.next).toContain(`limit=3&sortDir=${sortDir}&cursor=`);
      await user.take(id, inOrder[0] ?? '');
      await user.take(id, inOrder[2] ?? '');
      await user.take(id, inOrder[4] ?? '');
      await user.add(id, { entityId: 'late' });
      const rest = [...inOrder.slice(3, 4), ...inOrder.slice(5), ...(sortDir === 'asc' ? ['late'] : [])];
      expect(await user.walk(id, start.next)).toEqual(rest);
      expect((await user.entities(id, start.next)).json).toMatchObject({
        pagination: { page: 2, totalItems: 7 },
      });
    }
  });

  test('refuse a cursor of another list', async () => {
    const { id } = await fill(2);
    const { next = '' } = await user.entities(id, 'limit=1');
    const cursor = new URLSearchParams(next).get('cursor') ?? '';
    const content = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const forged = Buffer.from(JSON.stringify({ ...content, k: '}' })).toString('base64url');
    const { id: other } = await fill(2);
    const answers = await Promise.all([
      user.entities(other, `cursor=${cursor}`),
      user.entities(id, `cursor=${cursor}&sortDir=asc`),
      actsOf(world, randomUUID()).entities(id, `cursor=${cursor}`),
      user.entities(id, `cursor=${forged}`),
      user.entities(id, 'cursor='),
    ]);
    for (const answer of answers) {
      expect(answer.json).toEqual({
        error: 'cursor does not belong to this list. Start the list again without a cursor.',
        code: 'collection/invalid-query',
        field: 'cursor',
      });
      expect(answer.status).toBe(400);
    }
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=x', 'limit'],
    ['page=0', 'page'],
    ['page=1.5', 'page'],
    ['page=1&page=2', 'page'],
    ['sortDir=up', 'sortDir'],
  ])('refuse the query %s', async (query, field) => {
    const answer = await user.entities(root.id, query);
    expect(answer.json).toEqual({
      error: expect.stringMatching(new RegExp(`^${field} `)),
      code: 'collection/invalid-query',
      field,
    });
    expect(answer.status).toBe(400);
  });

  test.each([
    [{}, 'entityId'],
    [{ entityId: 7 }, 'entityId'],
    [{ entityId: ' ' }, 'entityId'],
    [{ entityId: 'x'.repeat(201) }, 'entityId'],
    [{ entityId: '.' }, 'entityId'],
    [{ entityId: ' .. ' }, 'entityId'],
    [{ entityId: '\ud800' }, 'entityId'],
    [{ entityId: 'x', metadata: [] }, 'metadata'],
    [{ entityId: 'x', metadata: 'text' }, 'metadata'],
    [{ entityId: 'x', metadata: { long: 'x'.repeat(8_192) } }, 'metadata'],
  ])('refuse the body %#', async (body, field) => {
    const answer = await user.add(root.id, body);
    expect(answer.json).toEqual({
      error: expect.stringMatching(new RegExp(`^${field} `)),
      code: 'collection/invalid-body',
      field,
    });
    expect(answer.status).toBe(400);
  });

  test('are found in at most 1,000 collections, the oldest first', async () => {
    const { projectId, id: parentId, userId } = root;
    const owner = { projectId, userId };
    const made = await seedBelow(world.store, owner, { parentId, width: 1_001, levels: 1 });
    const store = await openStore(world.store);
    const entities = [{ entityId: 'everywhere', addedAt: Date.now(), metadata: null }];
    const read = [...(await store.imports.find(made)).values()];
    await store.imports.save(read.map((collection) => ({ collection, entities })));
    await store.close();
    made.sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1));
    const { json } = await user.saved('everywhere');
    const collections = made.slice(0, 1_000).map(({ id, name }) => ({ id, name }));
    expect(json).toEqual({ saved: true, collections });
  });

  test.each(['', 'entityId=', `entityId=${'x'.repeat(201)}`, 'entityId=a&entityId=b'])(
    'refuse the query %# of is-entity-saved',
    async (query) => {
      const answer = await world.call(isEntitySaved, { userId: root.userId, query });
      expect(answer.json).toEqual({
        error: expect.stringMatching(/^entityId /),
        code: 'collection/invalid-query',
        field: 'entityId',
      });
      expect(answer.status).toBe(400);
    },
  );

  test('cannot be reached in a collection that does not belong to the caller', async () => {
    const { id } = await fill(1);
    const stranger = actsOf(world, randomUUID());
    const elsewhere = actsOf(world, root.userId, { projectId: randomUUID() });
    const answers = await Promise.all([
      ...[stranger, elsewhere].flatMap((acts) => [
        acts.entities(id),
        acts.add(id, { entityId: 'x' }),
        acts.take(id, 'entity 0'),
      ]),
      ...[randomUUID(), 'no-uuid'].flatMap((unknown) => [
        user.entities(unknown),
        user.add(unknown, { entityId: 'x' }),
        user.take(unknown, 'x'),
      ]),
      user.take(id, 'x'.repeat(201)),
      user.take(id, ' '),
    ]);
    for (const answer of answers) {
      expect(answer.text).toBe('{"error":"No such collection.","code":"collection/not-found"}');
      expect(answer.status).toBe(404);
    }
    expect(await stranger.homes('entity 0')).toEqual([]);
    expect(await elsewhere.homes('entity 0')).toEqual([]);
    expect(dataOf(await user.entities(id))).toEqual(['entity 0']);
  });

  test('are found in all collections that hold them, the oldest collection first', async () => {
    const made: Collection[] = [];
    for (const name of ['a', 'b', 'c']) made.push(await user.make(root.id, name));
    made.sort((one, other) => (one.createdAt + one.id < other.createdAt + other.id ? -1 : 1));
    const ids = made.map(({ id }) => id);
    for (const id of [...ids].reverse()) await user.add(id, { entityId: 'shared' });
    expect(await user.homes('shared')).toEqual(ids);
    await user.take(ids[1] ?? '', 'shared');
    expect(await user.homes('shared')).toEqual([ids[0], ids[2]]);
    expect(await user.homes('share')).toEqual([]);
  });
});
