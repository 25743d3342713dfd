import { randomUUID } from 'node:crypto';
import {
  countNotifications,
  createFile,
  deleteCollection,
  deleteFile,
  getConnectionStatus,
  getFile,
  getFileVariant,
  getRootCollection,
  getUserByForeignId,
  importCollections,
  importConnections,
  importEntities,
  importFile,
  importUsers,
  listConnections,
  listEntities,
  listFiles,
  listReceivedRequests,
  listSubCollections,
  type OperationSpec,
  renameCollection,
} from '@kith/contracts';
import type { TestUser } from '@kith/testing';
import { beforeAll, expect, it } from 'vitest';
import { filePart, type Part, smallPng } from '../support/multipart.ts';
import { refusesStrangers } from '../support/surface/guards.ts';
import { importedRow } from '../support/surface/imported-row.ts';
import { features } from '../support/surface/parts.ts';
import { surfaceSuite } from '../support/surface/suite.ts';

const at = '2020-01-02T03:04:05.678Z';
const later = '2020-02-03T04:05:06.789Z';

export const imports = surfaceSuite('imports', (world) => {
  let ada: TestUser;
  let grace: TestUser;
  let alan: TestUser;
  beforeAll(async () => {
    [ada, grace, alan] = [await world.user(), await world.user({ username: 'grace.i' }), await world.user()];
  });
  const given = (rows: unknown, projectId = world.projectId) => ({
    token: world.operatorToken,
    params: { projectId },
    body: { rows },
  });
  const nothing = { imported: 0, unchanged: 0, rejected: [] };

  it('every operation checks the operator’s token before all else', () =>
    refusesStrangers(world, features.imports.operations));

  it('users are imported with their data, once; rows with taken addresses, names and ids are rejected one by one', async () => {
    const rows = [
      {
        foreignId: 'i-1',
        email: 'I1@Example.com',
        username: 'imported.1',
        name: 'Önе',
        role: 'editor',
        createdAt: at,
      },
      {
        foreignId: 'i-2',
        email: 'i2@example.com',
        reputation: 7,
        createdAt: '2020-01-02T05:04:05.678+02:00',
      },
      { foreignId: 'i-3', email: 'i2@example.com' },
      { foreignId: 'i-4', username: 'GRACE.I' },
      { id: randomUUID(), foreignId: 'i-1' },
      { id: world.stranger.id },
      { foreignId: 'i-1', name: 'Later' },
      { id: ada.id },
    ];
    const { body } = await world.ok(importUsers, given(rows));
    expect(body).toEqual({
      imported: 2,
      unchanged: 1,
      rejected: [
        { row: 2, reason: 'email-taken' },
        { row: 3, reason: 'username-taken' },
        { row: 4, reason: 'foreign-id-taken' },
        { row: 5, reason: 'id-taken' },
        { row: 6, reason: 'conflict', fields: ['name'] },
      ],
    });
    const find = async (foreignId: string) =>
      (await world.ok(getUserByForeignId, { query: `foreignId=${foreignId}` })).body;
    expect(await find('i-1')).toMatchObject({
      name: 'Önе',
      username: 'imported.1',
      role: 'editor',
      createdAt: at,
    });
    expect(await find('i-2')).toMatchObject({ reputation: 7, createdAt: '2020-01-02T03:04:05.678Z' });
    expect((await world.ok(importUsers, given(rows.slice(0, 2)))).body).toEqual({ ...nothing, unchanged: 2 });
  });

  it('hashes of more than four kinds are rejected, and so are hashes that together cost too much', async () => {
    const send = async (...costs: string[]) => {
      const rows = costs.map((cost) => ({
        foreignId: `cost-${cost}`,
        passwordHash: `$2b$${cost}$${'a'.repeat(53)}`,
      }));
      return (await world.ok(importUsers, given(rows))).body;
    };
    const costly = { ...nothing, imported: 1, rejected: [{ row: 1, reason: 'hashes-too-costly' }] };
    expect(await send('05', '13')).toEqual(costly);
    const many = { ...nothing, imported: 3, rejected: [{ row: 3, reason: 'too-many-hash-kinds' }] };
    expect(await send('06', '07', '08', '09')).toEqual(many);
  });

  it('connections are imported in any state, lists and totals show them, and nobody is notified', async () => {
    const between = (requester: TestUser, receiver: TestUser) => ({
      requesterId: requester.id,
      receiverId: receiver.id,
      requestedAt: at,
    });
    const id = randomUUID();
    const rows = [
      { ...between(ada, grace), id, message: ' Hello ', connectedAt: later },
      { ...between(alan, grace), state: 'pending' },
      { ...between(alan, ada), state: 'declined' },
      { ...between(grace, ada), connectedAt: later },
      between(ada, ada),
      { requesterForeignId: 'nobody', receiverId: ada.id, requestedAt: at },
      { ...between(ada, world.stranger) },
      { requesterForeignId: 'i-1', receiverForeignId: 'i-2', id, requestedAt: at },
    ];
    const { body } = await world.ok(importConnections, given(rows));
    expect(body).toEqual({
      imported: 3,
      unchanged: 0,
      rejected: [
        { row: 3, reason: 'pair-taken' },
        { row: 4, reason: 'same-user' },
        { row: 5, reason: 'user-not-found' },
        { row: 6, reason: 'user-not-found' },
        { row: 7, reason: 'id-taken' },
      ],
    });
    expect((await world.ok(importConnections, given(rows.slice(0, 3)))).body).toEqual({
      ...nothing,
      unchanged: 3,
    });
    // If a row lacks a field, the import does not compare this field with the stored row.
    const { connectedAt: _, ...brief } = rows[0] as { connectedAt: string };
    const changed = [
      brief,
      { ...rows[0], message: 'Bye' },
      { ...rows[0], ...between(grace, ada), connectedAt: at },
      { ...rows[1], state: 'accepted', requestedAt: later },
    ];
    expect((await world.ok(importConnections, given(changed))).body).toEqual({
      imported: 0,
      unchanged: 1,
      rejected: [
        { row: 1, reason: 'conflict', fields: ['message'] },
        { row: 2, reason: 'conflict', fields: ['requesterId', 'receiverId', 'connectedAt'] },
        { row: 3, reason: 'conflict', fields: ['state', 'requestedAt'] },
      ],
    });
    for (const [owner, other] of [
      [ada, grace],
      [grace, ada],
    ] as const) {
      const { connections, pagination } = (await world.ok(listConnections, { token: owner.accessToken }))
        .body;
      expect(connections).toMatchObject([
        { id, connectedUser: { id: other.id }, message: 'Hello', requestedAt: at, connectedAt: later },
      ]);
      expect(pagination.totalCount).toBe(1);
    }
    const received = (await world.ok(listReceivedRequests, { token: grace.accessToken })).body;
    expect(received.requests).toMatchObject([{ user: { id: alan.id }, createdAt: at }]);
    const status = { token: alan.accessToken, params: { userId: ada.id } };
    expect((await world.ok(getConnectionStatus, status)).body).toMatchObject({
      status: 'declined',
      type: 'sent',
    });
    expect((await world.ok(countNotifications, { token: grace.accessToken })).body).toBe(0);
  });

  it('collections are imported below their parents, and entities into them', async () => {
    const own = { userId: ada.id, createdAt: at };
    const deep = Array.from({ length: 101 }, (_, level) => ({
      ...own,
      id: `deep-${level}`,
      ...(level === 0 ? {} : { parentId: `deep-${level - 1}` }),
      name: 'x',
    }));
    expect((await world.ok(importCollections, given(deep))).body).toEqual({
      imported: 100,
      unchanged: 0,
      rejected: [{ row: 100, reason: 'too-deep' }],
    });
    const rows = [
      { ...own, id: 'novels', parentId: 'books', name: 'Novels' },
      { ...own, id: 'books', name: ' Books ', createdAt: later },
      { ...own, id: 'lost', parentId: 'nowhere', name: 'Lost' },
      { userForeignId: 'nobody', createdAt: at, id: 'x', name: 'x' },
      { ...own, id: 'books', name: 'Books', createdAt: later },
      { ...own, id: 'books', parentId: 'deep-0', name: 'Again' },
    ];
    expect((await world.ok(importCollections, given(rows))).body).toEqual({
      imported: 2,
      unchanged: 1,
      rejected: [
        { row: 2, reason: 'parent-not-found' },
        { row: 3, reason: 'user-not-found' },
        { row: 5, reason: 'conflict', fields: ['parentId', 'name', 'createdAt'] },
      ],
    });
    expect((await world.ok(importCollections, given(rows.slice(0, 2)))).body).toEqual({
      ...nothing,
      unchanged: 2,
    });
    const token = ada.accessToken;
    const root = (await world.ok(getRootCollection, { token })).body;
    const below = async (collectionId: string) =>
      (await world.ok(listSubCollections, { token, params: { collectionId } })).body;
    const [x, books] = await below(root.id);
    expect([x?.name, books?.name]).toEqual(['x', 'Books']);
    const kept = books?.id ?? '';
    expect(await below(kept)).toMatchObject([
      { name: 'Novels', parentId: kept, createdAt: at, entityCount: 0 },
    ]);

    const saved = [
      { userId: ada.id, collectionId: 'books', entityId: 'one', addedAt: later, metadata: { page: 1 } },
      { userId: ada.id, collectionId: 'books', entityId: 'two', addedAt: at },
      { userId: ada.id, collectionId: 'books', entityId: 'one', addedAt: at },
      { userId: ada.id, entityId: 'three', addedAt: at },
      { userId: ada.id, collectionId: 'nowhere', entityId: 'one', addedAt: at },
      { userId: grace.id, collectionId: 'books', entityId: 'one', addedAt: at },
      { userForeignId: 'nobody', entityId: 'one', addedAt: at },
    ];
    expect((await world.ok(importEntities, given(saved))).body).toEqual({
      imported: 3,
      unchanged: 0,
      rejected: [
        { row: 2, reason: 'conflict', fields: ['addedAt'] },
        { row: 4, reason: 'collection-not-found' },
        { row: 5, reason: 'collection-not-found' },
        { row: 6, reason: 'user-not-found' },
      ],
    });
    const again = [
      ...saved.slice(0, 2),
      { userId: ada.id, collectionId: 'books', entityId: 'one', addedAt: later },
      { userId: ada.id, collectionId: 'books', entityId: 'two', addedAt: at, metadata: null },
      { userId: ada.id, collectionId: 'books', entityId: 'one', addedAt: later, metadata: null },
      { ...saved[3], metadata: { page: 2 } },
    ];
    expect((await world.ok(importEntities, given(again))).body).toEqual({
      imported: 0,
      unchanged: 4,
      rejected: [
        { row: 4, reason: 'conflict', fields: ['metadata'] },
        { row: 5, reason: 'conflict', fields: ['metadata'] },
      ],
    });
    const list = async (collectionId: string) =>
      (await world.ok(listEntities, { token, params: { collectionId } })).body;
    expect(await list(kept)).toMatchObject({
      data: [
        { id: 'one', addedAt: later, metadata: { page: 1 } },
        { id: 'two', addedAt: at, metadata: null },
      ],
      pagination: { totalItems: 2 },
    });
    expect((await list(root.id)).data).toMatchObject([{ id: 'three' }]);
  });

  it('an import does not restore collections that a user has deleted, or collections below them', async () => {
    const { id: userId, accessToken: token } = await world.user();
    const rows = [
      { userId, createdAt: at, id: 'shelf', name: 'Shelf' },
      { userId, createdAt: at, id: 'box', parentId: 'shelf', name: 'Box' },
    ];
    expect((await world.ok(importCollections, given(rows))).body).toEqual({ ...nothing, imported: 2 });
    const root = (await world.ok(getRootCollection, { token })).body;
    const below = async () =>
      (await world.ok(listSubCollections, { token, params: { collectionId: root.id } })).body;
    const params = { collectionId: (await below())[0]?.id ?? '' };
    await world.ok(renameCollection, { token, params, body: { name: 'Renamed' } });
    await world.ok(deleteCollection, { token, params });
    const moved = [
      { ...rows[0], createdAt: later },
      { userId, createdAt: at, id: 'box', name: 'Box' },
    ];
    for (const again of [rows, moved]) {
      expect((await world.ok(importCollections, given(again))).body).toEqual({
        ...nothing,
        rejected: [0, 1].map((row) => ({ row, reason: 'deleted' })),
      });
    }
    expect(await below()).toEqual([]);
    const entity = { userId, collectionId: 'shelf', entityId: 'one', addedAt: at };
    expect((await world.ok(importEntities, given([entity]))).body).toEqual({
      ...nothing,
      rejected: [{ row: 0, reason: 'collection-not-found' }],
    });
  });

  const asFile = (row: Record<string, string>, part: Part = filePart('notes', 'notes.txt')) => ({
    token: world.operatorToken,
    params: { projectId: world.projectId },
    parts: [...Object.entries(row).map(([name, value]) => ({ name, value })), part],
  });

  it('files are imported unchanged, once, and then belong to their owners', async () => {
    const fileId = randomUUID();
    const row = { userId: ada.id, id: fileId, createdAt: at };
    const send = async (...of: Parameters<typeof asFile>) => (await world.ok(importFile, asFile(...of))).body;
    const refusal = (reason: string, ...fields: string[]) => ({
      ...nothing,
      rejected: [{ row: 0, reason, ...(fields.length > 0 && { fields }) }],
    });
    expect(await send(row)).toEqual({ ...nothing, imported: 1 });
    expect(await send(row)).toEqual({ ...nothing, unchanged: 1 });
    expect(await send({ ...row, createdAt: later }, filePart('other', 'x.txt'))).toEqual(
      refusal('conflict', 'name', 'createdAt', 'path'),
    );
    expect(await send({ ...row, kind: 'image' }, filePart(smallPng, 'notes.txt'))).toEqual(
      refusal('conflict', 'kind'),
    );
    expect(await send({ ...row, userId: grace.id })).toEqual(refusal('id-taken'));
    expect(await send({ ...row, id: randomUUID(), userId: randomUUID() })).toEqual(refusal('user-not-found'));
    const image = { ...row, id: randomUUID(), createdAt: later, kind: 'image', sizes: '{"small":8}' };
    expect(await send(image, filePart('no image'))).toEqual(refusal('invalid-image'));
    expect(await send(image, filePart(smallPng))).toEqual({ ...nothing, imported: 1 });
    expect(await send({ ...image, quality: '80' }, filePart(smallPng))).toEqual({ ...nothing, unchanged: 1 });
    // A field that a row leaves out is not compared.
    const { sizes: _, ...sizeless } = image;
    expect(await send(sizeless, filePart(smallPng))).toEqual({ ...nothing, unchanged: 1 });
    for (const [fields, differing] of [
      ['sizes', { ...image, sizes: '{}' }],
      ['sizes', { ...image, sizes: '{"small":7}' }],
      ['sizes', { ...image, sizes: '{"other":8}' }],
      ['sizes', { ...image, sizes: '{"small":8,"large":100}' }],
      ['quality', { ...image, quality: '70' }],
    ] as const)
      expect(await send(differing, filePart(smallPng))).toEqual(refusal('conflict', fields));
    await world.ok(getFileVariant, { params: { fileId: image.id, variant: 'small' }, type: 'image/png' });

    const token = ada.accessToken;
    const parts = [filePart('of today')];
    const { fileId: today } = (await world.ok(createFile, { token, parts })).body;
    const list = async () => (await world.ok(listFiles, { token })).body;
    expect(await list()).toMatchObject({
      data: [
        { fileId: today },
        { fileId: image.id, type: 'image', createdAt: later },
        { fileId, type: 'file', name: 'notes.txt', originalSize: 5, createdAt: at },
      ],
      pagination: { totalItems: 3 },
    });
    const type = 'application/octet-stream';
    expect((await world.ok(getFile, { params: { fileId }, type })).text).toBe('notes');
    for (const { fileId: one } of (await list()).data)
      await world.ok(deleteFile, { token, params: { fileId: one } });
    await world.refused(getFile, { params: { fileId } }, 'storage/not-found');
  });

  it('files: a request with an invalid form or an unknown project is refused', async () => {
    const row = {
      userId: ada.id,
      id: randomUUID(),
      createdAt: at,
      kind: 'image',
      sizes: '{}',
      quality: '80',
    };
    for (const field of Object.keys(row).filter((name) => name !== 'userId'))
      await world.refused(importFile, asFile({ ...row, [field]: 'x' }), 'storage/invalid-body', { field });
    const { userId: _, ...unowned } = row;
    await world.refused(importFile, asFile({ ...row, userId: 'x' }), 'storage/invalid-body', {
      field: 'userId',
    });
    await world.refused(importFile, asFile(unowned), 'storage/invalid-body', {
      ...{ field: 'userId', message: 'Give userId or userForeignId.' },
    });
    const nobodys = { ...unowned, userForeignId: '' };
    await world.refused(importFile, asFile(nobodys), 'storage/invalid-body', { field: 'userForeignId' });
    await world.refused(importFile, asFile({ ...row, nmae: 'x' }), 'request/unknown-field', {
      field: 'nmae',
      message: 'nmae is not a field of this endpoint.',
    });
    const { parts, ...known } = asFile(row);
    await world.refused(importFile, { ...known, parts: parts.slice(0, -1) }, 'storage/no-file');
    const late = [...parts, { name: 'name', value: 'x' }];
    await world.refused(importFile, { ...known, parts: late }, 'request/invalid-multipart', {
      message: 'The file must be the last part of the form.',
    });
    await world.refused(importFile, { ...known, parts, query: 'dryRun=1' }, 'request/unknown-field', {
      field: 'dryRun',
      message: 'dryRun is not a field of this endpoint.',
    });
    const { kind: _kind, sizes, quality, ...plain } = row;
    for (const ofImages of [{ sizes }, { quality }] as Record<string, string>[])
      await world.refused(importFile, asFile({ ...plain, ...ofImages }), 'storage/invalid-body', {
        ...{ field: 'kind', message: 'kind must be image if sizes or quality is given.' },
      });
    const large = filePart(Buffer.alloc(50 * 1024 * 1024 + 1));
    await world.refused(importFile, asFile(plain, large), 'storage/file-too-large');
    for (const projectId of ['nonsense', randomUUID()])
      await world.refused(importFile, { ...known, parts, params: { projectId } }, 'project/not-found');
  });

  it.each([
    ['users', importUsers],
    ['connections', importConnections],
    ['collections', importCollections],
    ['entities', importEntities],
  ] as [string, OperationSpec][])(
    '%s: a request with an invalid row is refused as a whole, and so is a request with an unknown project',
    async (_, spec) => {
      const code = `${spec.feature}/invalid-body` as const;
      for (const rows of [undefined, 'x', [], Array.from({ length: 1001 }, () => importedRow(spec))]) {
        await world.refused(spec, given(rows), code, { field: 'rows' });
      }
      const row = importedRow(spec);
      await world.refused(spec, given([row, 7]), code, { field: 'rows.1' });
      const misspelt = { ...row, password_hash: 'x' };
      await world.refused(spec, given([row, misspelt]), 'request/unknown-field', {
        field: 'rows.1.password_hash',
        message: 'rows.1.password_hash is not a field of this endpoint.',
      });
      for (const projectId of ['nonsense', randomUUID()])
        await world.refused(spec, given([row], projectId), 'project/not-found');
    },
  );
});
