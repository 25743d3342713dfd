import { randomUUID } from 'node:crypto';
import {
  type Collection,
  createSubCollection,
  deleteCollection,
  getRootCollection,
  listSubCollections,
  renameCollection,
} from '@kith/contracts';
import type { TestUser } from '@kith/testing';
import { beforeAll, expect, it } from 'vitest';
import { refusesStrangers, refusesTwice } from '../support/surface/guards.ts';
import { walksList } from '../support/surface/lists.ts';
import { features } from '../support/surface/parts.ts';
import { surfaceSuite } from '../support/surface/suite.ts';

/** Names that no collection can have. */
const badNames = [undefined, null, 7, {}, '', ' \t ', 'x'.repeat(201), 'lone \ud800'];

export const collections = surfaceSuite('collections', (world) => {
  let ada: TestUser;
  let root: Collection;
  /** Ids that belong to none of Ada's collections: malformed, unknown, another user's, another project's. */
  let notMine: string[];
  beforeAll(async () => {
    ada = await world.user();
    root = (await world.ok(getRootCollection, { token: ada.accessToken })).body;
    const grace = await world.user();
    const hers = await world.platform.createCollection(grace, 'Hers');
    const elsewhere = await world.platform.createCollection(world.stranger, 'Elsewhere');
    notMine = ['nonsense', randomUUID(), hers.id, elsewhere.id];
  });
  const of = (collectionId: string) => ({ token: ada.accessToken, params: { collectionId } });
  const create = async (parentId: string, collectionName: string) =>
    (await world.ok(createSubCollection, { ...of(parentId), body: { collectionName } })).body;

  it('checks the token before all else', () => refusesStrangers(world, features.collections.operations));

  it('each user gets exactly one root on first use, even if several requests ask for it at the same time', async () => {
    const { accessToken: token, id: userId, projectId } = await world.user();
    const asked = await Promise.all(Array.from({ length: 6 }, () => world.ok(getRootCollection, { token })));
    const [first] = asked;
    for (const { body } of asked) expect(body).toEqual(first?.body);
    expect(first?.body).toEqual({
      id: expect.any(String),
      projectId,
      userId,
      parentId: null,
      name: 'root',
      isRoot: true,
      entityCount: 0,
      createdAt: expect.any(String),
      updatedAt: first?.body.createdAt,
    });
  });

  it('a collection is created below another one, after first its name and then its parent are checked', async () => {
    const made = await create(root.id.toUpperCase(), `  ${'😀'.repeat(200)} `);
    expect(made).toEqual({
      ...root,
      id: expect.any(String),
      parentId: root.id,
      name: '😀'.repeat(200),
      isRoot: false,
      createdAt: expect.any(String),
      updatedAt: made.createdAt,
    });
    expect((await create(made.id, 'Below')).parentId).toBe(made.id);
    for (const collectionName of badNames) {
      const given = { ...of('nonsense'), body: { collectionName } };
      await world.refused(createSubCollection, given, 'collection/invalid-name', { field: 'collectionName' });
    }
    for (const id of notMine) {
      const given = { ...of(id), body: { collectionName: 'x' } };
      await world.refused(createSubCollection, given, 'collection/invalid-parent');
    }
  });

  it('collections can be nested up to a hundred levels below the root', async () => {
    let parent = root.id;
    for (let level = 1; level <= 100; level++) parent = (await create(parent, `Level ${level}`)).id;
    const given = { ...of(parent), body: { collectionName: 'Too deep' } };
    await world.refused(createSubCollection, given, 'collection/too-deep');
  });

  it('sub-collections are listed as a bare array, oldest first', async () => {
    const parent = await create(root.id, 'Parent');
    expect((await world.ok(listSubCollections, of(parent.id))).body).toEqual([]);
    const made = [];
    for (const name of ['B', 'A', 'C']) made.push(await create(parent.id, name));
    expect((await world.ok(listSubCollections, of(parent.id))).body).toEqual(made);
    await walksList(world, listSubCollections, of(parent.id), { rows: (rows) => rows, max: 1000 });
    await refusesTwice(world, listSubCollections, of(parent.id));
    for (const id of notMine) {
      await world.refused(listSubCollections, of(id), 'collection/not-found');
      const both = { ...of(id), query: 'limit=0' };
      await world.refused(listSubCollections, both, 'collection/invalid-query', { field: 'limit' });
    }
  });

  it('a collection is renamed, after first the new name and then the collection’s id are checked', async () => {
    const before = await create(root.id, 'Before');
    const { body } = await world.ok(renameCollection, {
      // An id may be in upper or lower case.
      ...of(before.id.toUpperCase()),
      body: { name: '  Später 📚  ', isRoot: true },
    });
    expect(body).toEqual({ ...before, name: 'Später 📚', updatedAt: expect.any(String) });
    expect(Date.parse(body.updatedAt)).toBeGreaterThanOrEqual(Date.parse(before.updatedAt));
    for (const name of badNames) {
      const given = { ...of('nonsense'), body: { name } };
      await world.refused(renameCollection, given, 'collection/invalid-name', { field: 'name' });
    }
    const answers = [];
    for (const id of [root.id, ...notMine]) {
      const given = { ...of(id), body: { name: 'x' } };
      answers.push((await world.refused(renameCollection, given, 'collection/not-found')).text);
    }
    expect(new Set(answers).size).toBe(1);
  });

  it('a collection is deleted with all collections below it, but the root cannot be deleted', async () => {
    const top = await create(root.id, 'Top');
    const below = await create(top.id, 'Below');
    for (const id of [root.id, ...notMine]) {
      await world.refused(deleteCollection, of(id), 'collection/not-found');
    }
    await world.ok(deleteCollection, of(top.id));
    for (const id of [top.id, below.id]) {
      await world.refused(deleteCollection, of(id), 'collection/not-found');
      await world.refused(listSubCollections, of(id), 'collection/not-found');
      const given = { ...of(id), body: { collectionName: 'x' } };
      await world.refused(createSubCollection, given, 'collection/invalid-parent');
    }
    expect((await world.ok(getRootCollection, { token: ada.accessToken })).body).toEqual(root);
  });
});
