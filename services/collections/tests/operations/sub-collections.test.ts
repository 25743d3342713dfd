import { randomUUID } from 'node:crypto';
import { type Collection, createSubCollection, getRootCollection, listSubCollections } from '@kith/contracts';
import { handlerEngines, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorld, type World } from '../support/world.ts';

describe.each(handlerEngines())('sub-collections (%s)', (engine) => {
  let world: World;
  let root: Collection;
  const userId = randomUUID();
  beforeAll(async () => {
    world = await startWorld(engine);
    root = await world.collection(getRootCollection, { userId });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const create = (
    collectionId: string,
    collectionName: unknown,
    as: { userId?: string; projectId?: string } = {},
  ) => world.call(createSubCollection, { userId, collectionId, body: { collectionName }, ...as });
  const list = (collectionId: string, query = '', as: { userId?: string; projectId?: string } = {}) =>
    world.call(listSubCollections, { userId, collectionId, query, ...as });
  const family = async (size: number) => {
    const parent = (await create(root.id, 'parent')).json as Collection;
    const children: Collection[] = [];
    for (let made = 0; made < size; made++) {
      children.push((await create(parent.id, `child ${made}`)).json as Collection);
    }
    children.sort((one, other) => (one.createdAt + one.id < other.createdAt + other.id ? -1 : 1));
    return { parent, children };
  };

  test('are made below a collection of the caller', async () => {
    const answer = await create(root.id.toUpperCase(), '  Reise 🧳  ');
    expect(answer.status).toBe(201);
    const made = answer.json as Collection;
    expect(made).toEqual({
      ...root,
      id: expect.any(String),
      parentId: root.id,
      name: 'Reise 🧳',
      isRoot: false,
      createdAt: expect.any(String),
      updatedAt: made.createdAt,
    });
    expect(made.id).not.toBe(root.id);
    expect(((await create(made.id, 'below')).json as Collection).parentId).toBe(made.id);
  });

  test('need a parent that belongs to the caller, and get the same error for every other parent', async () => {
    const answers = await Promise.all([
      create(randomUUID(), 'x'),
      create('no-uuid', 'x'),
      create('', 'x'),
      create(root.id, 'x', { userId: randomUUID() }),
      create(root.id, 'x', { projectId: randomUUID() }),
    ]);
    for (const answer of answers) {
      expect(answer.text).toBe(
        '{"error":"The parent collection does not exist.","code":"collection/invalid-parent"}',
      );
      expect(answer.status).toBe(400);
    }
  });

  test('need a name', async () => {
    for (const name of [undefined, 7, null, '', '   ', 'x'.repeat(201), '\ud800']) {
      const answer = await create(root.id, name);
      expect(answer.json).toMatchObject({ code: 'collection/invalid-name', field: 'collectionName' });
      expect(answer.status).toBe(400);
    }
  });

  test('can be nested 100 levels below the root, but no deeper', async () => {
    let parent = root;
    for (let level = 1; level <= 100; level++) {
      parent = (await create(parent.id, `level ${level}`)).json as Collection;
    }
    const answer = await create(parent.id, 'level 101');
    expect(answer.json).toEqual({
      error: 'Collections nest at most 100 levels deep.',
      code: 'collection/too-deep',
    });
    expect(answer.status).toBe(400);
    expect((await list(parent.id)).json).toEqual([]);
  });

  test('are listed as a bare array, the oldest first', async () => {
    const { parent, children } = await family(5);
    const answer = await list(parent.id);
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual(children);
    expect(answer.next).toBeUndefined();
    expect((await list(children[0]?.id ?? '')).json).toEqual([]);
  });

  test('are listed page by page: the Link header of a page leads to the next page, up to the last one', async () => {
    const { parent, children } = await family(6);
    const walked: Collection[][] = [];
    let next: string | undefined = 'limit=2';
    while (next) {
      const answer = await list(parent.id, next);
      walked.push(answer.json as Collection[]);
      next = answer.next;
      if (next) expect(new URLSearchParams(next).get('limit')).toBe('2');
    }
    expect(walked).toEqual([children.slice(0, 2), children.slice(2, 4), children.slice(4)]);
    expect((await list(parent.id, 'limit=6')).next).toBeUndefined();
    expect((await list(parent.id, 'limit=99999999999999999999')).json).toEqual(children);
  });

  test('come at the end of the list if they are made after the first page was read', async () => {
    const { parent, children } = await family(3);
    const first = await list(parent.id, 'limit=2');
    // Collections made in the same millisecond are not sorted by time. So the test waits for the next millisecond.
    await waitFor(() => Date.now() > Date.parse(children[2]?.createdAt ?? ''));
    const late = (await create(parent.id, 'late')).json;
    expect((await list(parent.id, first.next)).json).toEqual([children[2], late]);
  });

  test('are not listed for a collection that does not belong to the caller', async () => {
    const { parent } = await family(1);
    const answers = await Promise.all([
      list(randomUUID()),
      list('no-uuid'),
      list(parent.id, '', { userId: randomUUID() }),
      list(parent.id, '', { projectId: randomUUID() }),
    ]);
    for (const answer of answers) {
      expect(answer.text).toBe('{"error":"No such collection.","code":"collection/not-found"}');
      expect(answer.status).toBe(404);
    }
  });

  test('refuse a cursor of another list', async () => {
    const { parent } = await family(2);
    const { next = '' } = await list(parent.id, 'limit=1');
    const cursor = encodeURIComponent(new URLSearchParams(next).get('cursor') ?? '');
    const other = await family(2);
    const refused = await Promise.all([
      list(other.parent.id, `cursor=${cursor}`),
      list(parent.id, `cursor=${cursor}`, { userId: randomUUID() }),
      list(parent.id, `cursor=${cursor}`, { projectId: randomUUID() }),
      list(parent.id, 'cursor='),
      list(parent.id, 'cursor=bm90IGEgY3Vyc29y'),
      list(parent.id, `cursor=${cursor}x%00`),
    ]);
    for (const answer of refused.slice(0, 5)) {
      expect(answer.json).toEqual({
        error: 'cursor does not belong to this list. Start the list again without a cursor.',
        code: 'collection/invalid-query',
        field: 'cursor',
      });
      expect(answer.status).toBe(400);
    }
  });

  test.each(['0', '-1', '1.5', 'x', ''])('refuse limit=%s', async (limit) => {
    const answer = await list(root.id, `limit=${limit}`);
    expect(answer.json).toEqual({
      error: 'limit must be a number from 1 to 1000.',
      code: 'collection/invalid-query',
      field: 'limit',
    });
    expect(answer.status).toBe(400);
  });
});
