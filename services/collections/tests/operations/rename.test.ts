import { randomUUID } from 'node:crypto';
import {
  type Collection,
  createSubCollection,
  getRootCollection,
  listSubCollections,
  renameCollection,
} from '@kith/contracts';
import { handlerEngines, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorld, type World } from '../support/world.ts';

describe.each(handlerEngines())('renaming a collection (%s)', (engine) => {
  let world: World;
  let root: Collection;
  const userId = randomUUID();
  beforeAll(async () => {
    world = await startWorld(engine);
    root = await world.collection(getRootCollection, { userId });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const make = (collectionName = 'first name') =>
    world.collection(createSubCollection, { userId, collectionId: root.id, body: { collectionName } });
  const rename = (collectionId: string, name: unknown, as: { userId?: string; projectId?: string } = {}) =>
    world.call(renameCollection, { userId, collectionId, body: { name }, ...as });

  test('stores the new name and answers with the renamed collection', async () => {
    const made = await make();
    const answer = await rename(made.id.toUpperCase(), '\n  Second name ');
    expect(answer.status).toBe(200);
    const renamed = answer.json as Collection;
    expect(renamed).toEqual({ ...made, name: 'Second name', updatedAt: expect.any(String) });
    expect(renamed.updatedAt >= made.updatedAt).toBe(true);
    const { json } = await world.call(listSubCollections, { userId, collectionId: root.id });
    expect(json).toContainEqual(renamed);
  });

  test('gives the same answer for the root, another user’s id, another project’s id, an unknown id and a malformed id', async () => {
    const made = await make();
    const answers = await Promise.all([
      rename(root.id, 'x'),
      rename(made.id, 'x', { userId: randomUUID() }),
      rename(made.id, 'x', { projectId: randomUUID() }),
      rename(randomUUID(), 'x'),
      rename('no-uuid', 'x'),
      rename(`${made.id}\u0000`, 'x'),
      rename(`{${made.id}}`, 'x'),
    ]);
    for (const answer of answers) {
      expect(answer.text).toBe('{"error":"No such collection.","code":"collection/not-found"}');
      expect(answer.status).toBe(404);
    }
    expect(await world.collection(getRootCollection, { userId })).toEqual(root);
  });

  test.each([
    ['missing', undefined],
    ['null', null],
    ['a number', 7],
    ['a list', ['x']],
    ['empty', ''],
    ['blank', ' \t\n\u3000 '],
    ['201 characters', 'x'.repeat(201)],
    ['201 characters of four bytes', '😀'.repeat(201)],
    ['half a character', 'a\ud83d'],
  ])('refuses a name that is %s, before it looks for the collection', async (_, name) => {
    for (const collectionId of [(await make()).id, root.id, randomUUID()]) {
      const answer = await rename(collectionId, name);
      expect(answer.json).toEqual({
        error: expect.stringMatching(/^name /),
        code: 'collection/invalid-name',
        field: 'name',
      });
      expect(answer.status).toBe(400);
    }
  });

  test.each([
    ['one character', 'x'],
    ['200 characters', 'x'.repeat(200)],
    ['200 characters of four bytes', '😀'.repeat(200)],
    ['right to left', 'مجموعة של'],
    ['joined emoji', '👩‍👩‍👧‍👦 family'],
    ['unnormalised', 'e\u0301 is not é'],
    ['control characters', 'a\u0000b\u0007c'],
    ['markup and quotes', `<b>"'$\\{x}</b> | } $gt`],
  ])('accepts a name unchanged: %s', async (_, name) => {
    const made = await make();
    expect((await rename(made.id, `  ${name} `)).json).toMatchObject({ name });
    const { json } = await world.call(listSubCollections, { userId, collectionId: root.id });
    expect((json as Collection[]).find(({ id }) => id === made.id)?.name).toBe(name);
  });

  test('to the same name changes nothing: no event is published, and updatedAt stays the same', async () => {
    const events = await world.events();
    const made = await make();
    const renamed = (await rename(made.id, 'other')).json;
    const again = await rename(made.id, ' other ');
    expect(again.status).toBe(200);
    expect(again.json).toEqual(renamed);
    const last = (await rename(made.id, 'last')).json;
    const own = () => events.filter(({ aggregate }) => aggregate.id === made.id);
    await waitFor(() => own().some(({ aggregate }) => aggregate.seq === 3));
    const bySeq = new Map(own().map((event) => [event.aggregate.seq, event]));
    expect([...bySeq.keys()].sort()).toEqual([1, 2, 3]);
    expect(bySeq.get(1)).toMatchObject({ type: 'collection.created', data: made });
    expect(bySeq.get(2)).toMatchObject({ type: 'collection.renamed', actorId: userId, data: renamed });
    expect(bySeq.get(3)).toMatchObject({ type: 'collection.renamed', data: last });
  });
});
