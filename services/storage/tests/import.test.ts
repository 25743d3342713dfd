import { randomUUID } from 'node:crypto';
import { createProject, importFile, signUp } from '@kith/contracts';
import { startIdentity } from '@kith/identity';
import { availableEngines, callOperation, createStore, testSecrets, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filePart, multipart } from '../../../tests/support/multipart.ts';
import type { Owner } from '../src/file.ts';
import { answerTo, signedRequest } from './support/bytes-client.ts';
import { World } from './support/world.ts';

describe.each(availableEngines())('imports of files (%s)', (engine) => {
  const undo = new AsyncDisposableStack();
  let world: World;
  let owner: Owner;
  beforeAll(async () => {
    world = undo.use(await World.start(engine));
    const { bus } = world.runtime;
    const place = undo.use(await createStore(engine));
    undo.use(await startIdentity(world.runtime, { store: place.config, secrets: testSecrets }));
    const projectId = (await callOperation(bus, createProject, { body: { name: 'Test' } })).body.id as string;
    const body = { email: 'ann@example.org', password: 'correct horse' };
    owner = { projectId, userId: (await callOperation(bus, signUp, { projectId, body })).body.user.id };
  });
  afterAll(() => undo.disposeAsync());

  const send = (id: string, bytes: Uint8Array) => {
    const { projectId, userId } = owner;
    const row = { userId, id, createdAt: '2020-01-02T03:04:05Z' };
    const fields = Object.entries(row).map(([name, value]) => ({ name, value }));
    const form = multipart([...fields, filePart(bytes)]);
    const headers = { 'content-type': form.type };
    const call = { projectId: null, params: { projectId }, headers };
    const outgoing = signedRequest(world.url(), importFile, call);
    outgoing.end(form.body);
    return answerTo(outgoing);
  };

  it('tell nothing, so that what happens to files later tells of itself from 1 on', async () => {
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
    const isEmpty = async () => (await world.place.held(owner)).keys.length === 0;
    await waitFor(isEmpty, { what: 'an empty home' });
  });

  it('of a form whose fields come after its file leave nothing', async () => {
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

  it('of one file at once make one, and leave no bytes of the others', async () => {
    const id = randomUUID();
    const bytes = Buffer.alloc(100_000, 'x');
    const answers = await Promise.all(Array.from({ length: 4 }, () => send(id, bytes)));
    expect(answers.filter((answer) => answer?.json.imported === 1)).toHaveLength(1);
    // The other requests may find the imported file, or may have begun before the file existed.
    for (const answer of answers)
      if (answer?.status !== 200) expect(answer?.json.code).toBe('storage/server-error');
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
});
