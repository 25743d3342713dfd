import { randomUUID } from 'node:crypto';
import {
  addEntity,
  type Collection,
  deleteCollection,
  getRootCollection,
  isEntitySaved,
  listEntities,
  removeEntity,
} from '@kith/contracts';
import type { TestUser } from '@kith/testing';
import { beforeAll, expect, it } from 'vitest';
import { refusesStrangers, refusesTwice } from '../support/surface/guards.ts';
import { walksList } from '../support/surface/lists.ts';
import { features } from '../support/surface/parts.ts';
import { surfaceSuite } from '../support/surface/suite.ts';

/** Ids that no entity can have. */
const badIds = [undefined, null, 7, '', '  ', 'x'.repeat(201), 'lone \ud800'];

export const entities = surfaceSuite('entities', (world) => {
  let ada: TestUser;
  let notMine: string[];
  beforeAll(async () => {
    ada = await world.user();
    const hers = await world.platform.createCollection(await world.user(), 'Hers');
    const elsewhere = await world.platform.createCollection(world.stranger, 'Elsewhere');
    notMine = ['nonsense', randomUUID(), hers.id, elsewhere.id];
  });
  const of = (collectionId: string) => ({ token: ada.accessToken, params: { collectionId } });
  const save = async ({ id }: Collection, entityId: string, metadata?: unknown) =>
    (await world.ok(addEntity, { ...of(id), body: { entityId, metadata } })).body;
  const remove = ({ id: collectionId }: Collection, entityId: string) => ({
    token: ada.accessToken,
    params: { collectionId, entityId },
  });
  const create = (name: string) => world.platform.createCollection(ada, name);

  it('every operation checks the token before all else', () =>
    refusesStrangers(world, features.entities.operations));

  it('saving an entity a second time changes neither its metadata nor the count', async () => {
    const folder = await create('Folder');
    const metadata = { note: '📚', deep: [{ a: null }] };
    const counted = { success: true, collection: { id: folder.id, entityCount: 1 } };
    expect(await save(folder, '  post/1  ', metadata)).toEqual(counted);
    expect(await save(folder, 'post/1', { other: true })).toEqual(counted);
    const { body } = await world.ok(listEntities, of(folder.id));
    expect(body).toEqual({
      data: [{ id: 'post/1', isSaved: true, addedAt: expect.any(String), metadata }],
      pagination: { page: 1, pageSize: 20, totalPages: 1, totalItems: 1, hasMore: false },
    });
    expect((await world.ok(removeEntity, remove(folder, 'post/1'))).body).toEqual({
      ...counted,
      collection: { id: folder.id, entityCount: 0 },
    });
    await world.ok(removeEntity, remove(folder, 'post/1'));
  });

  it('entities can also be saved in the root', async () => {
    const { body: root } = await world.ok(getRootCollection, { token: ada.accessToken });
    await save(root, 'in-root');
    expect((await world.ok(getRootCollection, { token: ada.accessToken })).body.entityCount).toBe(1);
    const { body } = await world.ok(listEntities, of(root.id));
    expect(body.data).toEqual([
      { id: 'in-root', isSaved: true, addedAt: expect.any(String), metadata: null },
    ]);
  });

  it('saving refuses an invalid entity first, then an unknown collection', async () => {
    for (const entityId of badIds) {
      const given = { ...of('nonsense'), body: { entityId } };
      await world.refused(addEntity, given, 'collection/invalid-body', { field: 'entityId' });
    }
    for (const metadata of [7, 'text', [], { text: 'x'.repeat(8 * 1024) }]) {
      const given = { ...of('nonsense'), body: { entityId: 'e', metadata } };
      await world.refused(addEntity, given, 'collection/invalid-body', { field: 'metadata' });
    }
    for (const id of notMine) {
      await world.refused(addEntity, { ...of(id), body: { entityId: 'e' } }, 'collection/not-found');
      const params = { collectionId: id, entityId: 'e' };
      await world.refused(removeEntity, { token: ada.accessToken, params }, 'collection/not-found');
    }
    const tooLong = remove(await create('Kept'), 'x'.repeat(201));
    await world.refused(removeEntity, tooLong, 'collection/not-found');
  });

  it('entities are listed, newest first or oldest first', async () => {
    const folder = await create('List');
    for (const entity of ['b', 'a', 'c']) await save(folder, entity);
    const list = async (query: string) =>
      (await world.ok(listEntities, { ...of(folder.id), query })).body.data.map(({ id }) => id);
    expect(await list('sortDir=desc')).toEqual(['c', 'a', 'b']);
    expect(await list('sortDir=asc')).toEqual(['b', 'a', 'c']);
    for (const query of ['', 'sortDir=asc']) {
      await walksList(
        world,
        listEntities,
        { ...of(folder.id), query },
        { rows: ({ data }) => data, max: 100 },
      );
    }
    for (const sortDir of ['up', '', 'ASC']) {
      const given = { ...of('nonsense'), query: `sortDir=${sortDir}` };
      await world.refused(listEntities, given, 'collection/invalid-query', { field: 'sortDir' });
    }
    await refusesTwice(world, listEntities, of(folder.id));
    for (const id of notMine) await world.refused(listEntities, of(id), 'collection/not-found');
  });

  it('is-saved lists the caller’s collections that contain an entity, in the order in which they were made', async () => {
    const { accessToken: token } = ada;
    const [one, other] = [await create('One'), await create('Other')];
    await save(other, 'entity 7');
    await save(one, 'entity 7');
    const ask = async () => (await world.ok(isEntitySaved, { token, query: 'entityId=entity%207' })).body;
    const named = ({ id, name }: Collection) => ({ id, name });
    expect(await ask()).toEqual({ saved: true, collections: [named(one), named(other)] });
    await world.ok(removeEntity, remove(one, 'entity 7'));
    await world.ok(deleteCollection, of(other.id));
    expect(await ask()).toEqual({ saved: false, collections: [] });
    await world.refused(removeEntity, remove(other, 'entity 7'), 'collection/not-found');
    for (const query of ['', 'entityId=', `entityId=${'x'.repeat(201)}`]) {
      await world.refused(isEntitySaved, { token, query }, 'collection/invalid-query', { field: 'entityId' });
    }
    await refusesTwice(world, isEntitySaved, { token });
  });
});
