import { randomUUID } from 'node:crypto';
import {
  createFile,
  createImage,
  deleteFile,
  deleteProjectFile,
  getFile,
  getFileVariant,
  listFiles,
  maxFileBytes,
  type StoredFile,
} from '@kith/contracts';
import type { TestUser } from '@kith/testing';
import { beforeAll, expect, it } from 'vitest';
import { filePart, smallPng } from '../support/multipart.ts';
import { operatorKey, refusesStrangers, refusesTwice, refusesUnknown } from '../support/surface/guards.ts';
import { walksList } from '../support/surface/lists.ts';
import { features } from '../support/surface/parts.ts';
import { surfaceSuite } from '../support/surface/suite.ts';

/** How many MiB a user may store on the suite's platform. */
export const userMebibytes = 51;
const field = (name: string, value: string) => ({ name, value });

export const storage = surfaceSuite('storage', (world) => {
  let ada: TestUser;
  beforeAll(async () => {
    ada = await world.user();
  });
  const of = (fileId: string, by = ada) => ({ token: by.accessToken, params: { fileId } });
  const store = async (content: string, by = ada) => {
    const parts = [filePart(content, 'notes.txt')];
    return (await world.ok(createFile, { token: by.accessToken, parts })).body;
  };

  it('every operation checks the token before all else', () =>
    refusesStrangers(world, features.storage.operations));

  it('a file is stored unchanged, and served as an attachment', async () => {
    const file = await store('Tape the bug into the book.');
    const path = `/v7/${world.projectId}/storage/files/${file.fileId}`;
    expect(file).toMatchObject({ type: 'file', originalPath: path, originalSize: 27, name: 'notes.txt' });
    const { headers } = await world.ok(getFile, { ...of(file.fileId), type: file.contentType });
    expect(headers['content-disposition']).toMatch(/^attachment; filename="notes.txt"/);
    const damaged = { ...of(file.fileId), headers: { range: 'bytes=27-' } };
    const refused = await world.refused(getFile, damaged, 'storage/invalid-range');
    expect(refused.headers['content-range']).toBe('bytes */27');
    const other = { ...of(file.fileId), headers: { 'if-match': '"another"' } };
    await world.refused(getFile, other, 'request/precondition-failed');
    // A client may send a request line and headers of up to 16 KiB together. The headers that the gateway then sends to the
    // service are longer, so the service has to accept more than 16 KiB.
    await world.ok(getFile, {
      ...of(file.fileId),
      type: file.contentType,
      query: `other=${'%CC%81'.repeat(2_000)}`,
    });
    for (const id of ['nonsense', randomUUID()]) await world.refused(getFile, of(id), 'storage/not-found');
  });

  it('an image is stored with its sizes, and served inline', async () => {
    const parts = [field('sizes', '{"small":8}'), filePart(smallPng, 'square.png'), field('quality', '70')];
    const { body } = await world.ok(createImage, { token: ada.accessToken, parts });
    expect(body).toMatchObject({ originalWidth: 16, originalHeight: 16, format: 'png', quality: 70 });
    expect(body.variants.small).toMatchObject({ width: 8, height: 8 });
    const params = { fileId: body.fileId, variant: 'small' };
    const { headers } = await world.ok(getFileVariant, { params, type: 'image/png' });
    expect(headers['content-disposition']).toMatch(/^inline/);
    const ranges = { params, headers: { range: 'bytes=x-' } };
    await world.refused(getFileVariant, ranges, 'storage/invalid-range');
    const changed = { params, headers: { 'if-unmodified-since': 'Mon, 01 Jan 2024 00:00:00 GMT' } };
    await world.refused(getFileVariant, changed, 'request/precondition-failed');
    const none = { params: { ...params, variant: 'large' } };
    await world.refused(getFileVariant, none, 'storage/not-found');
    const nonsense = { params: { fileId: 'nonsense', variant: 'N o' } };
    await world.refused(getFileVariant, nonsense, 'storage/not-found');
  });

  it('a form with a missing, invalid or too large part is refused', async () => {
    const token = ada.accessToken;
    for (const spec of [createImage, createFile]) {
      await world.refused(spec, { token, parts: [field('other', 'x')] }, 'storage/no-file');
      const twice = { token, parts: [filePart('a'), filePart('b')] };
      const message = 'The form has the file twice.';
      await world.refused(spec, twice, 'request/invalid-multipart', { message });
      const headers = { 'content-length': String(maxFileBytes * 2) };
      const large = { token, parts: [filePart('a')], headers };
      await world.refused(spec, large, 'storage/file-too-large');
    }
    await world.refused(createImage, { token, parts: [filePart('no image')] }, 'storage/invalid-image');
    for (const [name, values] of Object.entries({
      sizes: [
        'x',
        '[]',
        '7',
        '{"small":0}',
        '{"small":4097}',
        '{"S":1}',
        '{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1}',
      ],
      quality: ['0', '101', 'high', ''],
    })) {
      for (const value of values) {
        const parts = [filePart(smallPng), field(name, value)];
        await world.refused(createImage, { token, parts }, 'storage/invalid-body', { field: name });
      }
    }
  });

  it('a user cannot store more than the quota', async () => {
    const user = await world.user();
    const { accessToken: token } = user;
    const parts = [filePart(Buffer.alloc(maxFileBytes))];
    await world.ok(createFile, { token, parts });
    const rest = [filePart(Buffer.alloc(2 * 1024 * 1024))];
    await world.refused(createFile, { token, parts: rest }, 'storage/quota-exceeded');
    await store('There is room for that.', user);
    const whole = [filePart(Buffer.alloc((userMebibytes * 1024 * 1024) % maxFileBytes))];
    await world.refused(createFile, { token, parts: whole }, 'storage/quota-exceeded');
    const { data } = (await world.ok(listFiles, { token })).body;
    expect(data.map(({ originalSize }) => originalSize)).toEqual([23, maxFileBytes]);
    await world.ok(createFile, { token, parts: [filePart(Buffer.alloc(1024 * 1024 - 23))] });
    for (const spec of [createImage, createFile]) {
      await world.refused(spec, { token, parts: [filePart(smallPng)] }, 'storage/quota-exceeded');
    }
  });

  it('a project cannot store more than the limit that an operator has set', async () => {
    const { platform, operatorToken } = world;
    const { id } = await platform.createProject();
    const { accessToken: token } = await platform.createUser(id);
    const allow = (storageMib: number | null) =>
      platform.call('PATCH', `/admin/projects/${id}`, { token: operatorToken, body: { storageMib } });
    const given = { token, projectId: id, parts: [filePart(Buffer.alloc(600 * 1024))] };
    await allow(1);
    await world.ok(createFile, given);
    await world.refused(createFile, given, 'storage/quota-exceeded');
    await allow(null);
    await world.ok(createFile, given);
  });

  it('the caller’s files are listed, newest first', async () => {
    const user = await world.user();
    const { accessToken: token } = user;
    const made: StoredFile[] = [];
    for (const content of ['a', 'b', 'c']) made.unshift(await store(content, user));
    const { body } = await world.ok(listFiles, { token });
    expect(body.data).toEqual(made);
    await walksList(world, listFiles, { token }, { rows: ({ data }) => data, max: 100 });
    await refusesTwice(world, listFiles, { token });
  });

  it('only the owner can delete a file, which then no longer exists', async () => {
    const grace = await world.user();
    const { fileId } = await store('Soon gone.');
    await world.refused(deleteFile, of(fileId, grace), 'auth/forbidden');
    await world.ok(deleteFile, of(fileId));
    await world.refused(deleteFile, of(fileId), 'storage/not-found');
    await world.refused(getFile, of(fileId), 'storage/not-found');
    await world.refused(deleteFile, of('nonsense'), 'storage/not-found');
    const { data } = (await world.ok(listFiles, { token: ada.accessToken })).body;
    expect(data.map((one) => one.fileId)).not.toContain(fileId);
  });

  it('an operator can delete a file of any user', async () => {
    await refusesUnknown(world, deleteProjectFile);
    const { projectId } = world;
    const token = await operatorKey(world, { scopes: ['users:write'] });
    const { fileId } = await store('Damaged.');
    await world.ok(deleteProjectFile, { token, params: { projectId, fileId } });
    await world.refused(getFile, of(fileId), 'storage/not-found');
    const kept = (await store('Whole.')).fileId;
    for (const params of [
      { projectId, fileId },
      { projectId, fileId: 'nonsense' },
      { projectId: 'nonsense', fileId: kept },
      { projectId: randomUUID(), fileId: kept },
    ]) {
      await world.refused(deleteProjectFile, { token, params }, 'storage/not-found');
    }
    await world.ok(getFile, { ...of(kept), type: 'application/octet-stream' });
  });
});
