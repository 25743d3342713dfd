import { randomUUID } from 'node:crypto';
import { createProject, importFile, signUp } from '@kith/contracts';
import { startIdentity } from '@kith/identity';
import { callOperation, createStore, handlerEngines, testSecrets, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { filePart, multipart } from '../../../tests/support/multipart.ts';
import type { Owner } from '../src/file.ts';
import { FileStore } from '../src/store/index.ts';
import { answerTo, signedRequest } from './support/bytes-client.ts';
import { World } from './support/world.ts';

describe.each(handlerEngines())('imports of files (%s)', (engine) => {
  const undo = new AsyncDisposableStack();
  let world: World;
  let owner: Owner;
  let other: Owner;
  beforeAll(async () => {
    world = undo.use(await World.start(engine));
    const { bus } = world.runtime;
    const place = undo.use(await createStore(engine));
    undo.use(await startIdentity(world.runtime, { store: place.config, secrets: testSecrets }));
    const projectId = (await callOperation(bus, createProject, { body: { name: 'Test' } })).body.id as string;
    const signedUp = async (email: string) => {
      const body = { email, password: 'correct horse' };
      return { projectId, userId: (await callOperation(bus, signUp, { projectId, body })).body.user.id };
    };
    [owner, other] = [await signedUp('ann@example.org'), await signedUp('bob@example.org')];
  });
  afterAll(() => undo.disposeAsync());

  const send = (id: string, bytes: Uint8Array, of = owner, createdAt = '2020-01-02T03:04:05Z') => {
    const { projectId, userId } = of;
    const row = { userId, id, createdAt };
    const fields = Object.entries(row).map(([name, value]) => ({ name, value }));
    const form = multipart([...fields, filePart(bytes)]);
    const headers = { 'content-type': form.type };
    const call = { projectId: null, params: { projectId }, headers };
    const outgoing = signedRequest(world.url(), importFile, call);
    outgoing.end(form.body);
    return answerTo(outgoing);
  };

  it('publish no events, so the owner’s first event after an import has seq 1', async () => {
    const id = randomUUID();
    expect((await send(id, Buffer.from('old')))?.json).toMatchObject({ imported: 1 });
    const today = await world.file(owner, Buffer.from('new'));
    await world.delete(owner, id);
    await waitFor(() => world.events.length === 2, { what: 'the events' });
    expect(world.events.map(({ type, aggregate, data }) => [aggregate.seq, type, data.fileId])).toEqual([
      [1, 'file.created', today],
      [2, 'file.deleted', id],
    ]);
    await world.delete(owner, today);
    const isEmpty = async () => {
      const { keys, loose } = await world.place.held(owner);
      return keys.length + loose.length === 0;
    };
    await waitFor(isEmpty, { what: 'an empty home' });
  });

  it('do not move later uploads into the future, even if the imported time is in the future', async () => {
    const id = randomUUID();
    const createdAt = '2199-01-02T03:04:05.000Z';
    expect((await send(id, Buffer.from('early'), owner, createdAt))?.json).toMatchObject({ imported: 1 });
    const today = await world.file(owner, Buffer.from('new'));
    const { rows } = await world.place.held(owner);
    expect(rows.map((row) => row.id)).toEqual([id, today]);
    expect(rows[1]?.createdAt).toBeLessThan(Date.parse(createdAt) - 1_000);
    for (const file of [id, today]) await world.delete(owner, file);
    const isGone = async () => {
      const { keys, loose } = await world.place.held(owner);
      return keys.length + loose.length === 0;
    };
    await waitFor(isGone, { what: 'an empty home' });
  });

  it('are refused, and leave nothing, if the form has a field after the file', async () => {
    const before = await world.place.held(owner);
    const { projectId, userId } = owner;
    const row = { userId, id: randomUUID(), createdAt: '2020-01-02T03:04:05Z' };
    const fields = Object.entries(row).map(([name, value]) => ({ name, value }));
    const { type, body } = multipart([...fields, filePart('bytes'), { name: 'kind', value: 'image' }]);
    const headers = { 'content-type': type };
    const call = { projectId: null, params: { projectId }, headers };
    const outgoing = signedRequest(world.url(), importFile, call);
    outgoing.end(body);
    expect((await answerTo(outgoing))?.json).toMatchObject({ code: 'request/invalid-multipart' });
    expect(await world.place.held(owner)).toEqual(before);
  });

  it('make one file, and leave no other bytes, if several requests import the same file at the same time', async () => {
    const id = randomUUID();
    const bytes = Buffer.alloc(100_000, 'x');
    const answers = await Promise.all(Array.from({ length: 4 }, () => send(id, bytes)));
    expect(answers.filter((answer) => answer?.json.imported === 1)).toHaveLength(1);
    // The other requests either find the imported file, or are refused because they began before the file existed.
    for (const answer of answers)
      if (answer?.status !== 200) expect(answer?.json.code).toBe('gateway/unavailable');
    expect((await send(id, bytes))?.json).toMatchObject({ imported: 0, unchanged: 1 });
    const held = await waitFor(
      async () => {
        const now = await world.place.held(owner);
        if (now.loose.length > 0) throw new Error('There are notes.');
        return now;
      },
      { what: 'the end of the notes' },
    );
    expect(held).toMatchObject({ files: 1, bytes: bytes.length, projectBytes: bytes.length, unfinished: 0 });
    expect(held.rows.map((row) => row.id)).toEqual([id]);
    expect(held.keys).toHaveLength(1);
    expect((await world.get(id, owner))?.body.equals(bytes)).toBe(true);
  });

  it('make one file, and leave nothing of the other, if two with the same id but different owners come at the same time', async () => {
    const id = randomUUID();
    const bytes = new Map([owner, other].map((of) => [of, Buffer.from(`the file of ${of.userId}`)]));
    // Both requests are about to make their files at the same time. The request that comes here first waits until the other one
    // comes here, too, or is answered.
    const both = Promise.withResolvers<void>();
    const { commit } = FileStore.prototype;
    let count = 0;
    const spy = vi.spyOn(FileStore.prototype, 'commit').mockImplementation(async function (
      this: FileStore,
      ...change
    ) {
      if (++count === 2) both.resolve();
      await both.promise;
      return commit.apply(this, change);
    });
    const answers = await Promise.all(
      [...bytes].map(async ([of, sent]) => {
        const answer = await send(id, sent, of);
        both.resolve();
        return { of, told: answer?.json };
      }),
    );
    spy.mockRestore();
    const [first] = answers.filter(({ told }) => told.imported === 1);
    const [second] = answers.filter(({ told }) => told.imported === 0);
    expect(second?.told.rejected).toEqual([{ row: 0, reason: 'id-taken' }]);
    const isGone = async () => (await world.place.held(second!.of)).loose.length === 0;
    await waitFor(isGone, { what: 'the end of the note' });
    const [made, refused] = [await world.place.held(first!.of), await world.place.held(second!.of)];
    expect(made.rows).toContainEqual(expect.objectContaining({ id, userId: first?.of.userId }));
    expect(refused.rows).not.toContainEqual(expect.objectContaining({ id }));
    expect(refused.keys.filter((key) => key.includes(second!.of.userId))).toHaveLength(refused.rows.length);
    expect((await world.get(id, owner))?.body.equals(bytes.get(first!.of)!)).toBe(true);
    expect((await send(id, bytes.get(first!.of)!, first!.of))?.json).toMatchObject({ unchanged: 1 });
  });

  it('make the id free again after the file is deleted, unless an upload of its owner is in progress', async () => {
    const [id, bytes] = [randomUUID(), Buffer.from('bytes')];
    const told = async (of: Owner) => (await send(id, bytes, of))?.json;
    const taken = { rejected: [{ row: 0, reason: 'id-taken' }] };
    expect(await told(owner)).toMatchObject({ imported: 1 });
    expect(await told(other)).toMatchObject(taken);
    const late = world.begin(owner);
    await late.write(bytes);
    const isNoted = async () => (await world.place.held(owner)).loose.some(({ isDead }) => !isDead);
    await waitFor(isNoted, { what: 'the note' });
    await world.delete(owner, id);
    expect(await told(other)).toMatchObject(taken);
    await late.finish();
    expect(await told(owner)).toMatchObject({ imported: 1 });
    await world.delete(owner, id, { idempotencyKey: 'a key' });
    await waitFor(async () => (await told(other)).imported === 1, { what: 'the end of the claim' });
    expect(await told(owner)).toMatchObject(taken);
  });

  it('make files without Last-Modified, because other bytes may be imported later with the same id and time', async () => {
    const id = randomUUID();
    await send(id, Buffer.from('first'));
    const first = await world.get(id, owner);
    await world.delete(owner, id);
    await send(id, Buffer.from('other'));
    const since = { 'if-modified-since': new Date().toUTCString() };
    const tag = { 'if-none-match': first?.headers.etag ?? '' };
    for (const headers of [since, tag]) {
      const answer = await world.get(id, { ...owner, headers });
      expect([answer?.status, answer?.headers['last-modified'], answer?.body.toString()]).toEqual([
        ...[200, undefined, 'other'],
      ]);
    }
    expect(first?.headers['last-modified']).toBeUndefined();
  });

  it('no longer block a claimed id for other users when the account of the user who claimed it has ended', async () => {
    const { store } = world.place;
    const [id, until] = [randomUUID(), Date.now() + 3600_000];
    expect(await store.claim(owner, id, until)).toBe(true);
    expect(await store.claim(other, id, until)).toBe(false);
    await world.endAccount(owner);
    await waitFor(() => store.claim(other, id, until), { what: 'the end of the claim' });
  });
});
