// Starts no platform and at most 4 processes.
import { randomBytes, randomUUID } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createFile, createImage, getFile, ownImages } from '@kith/contracts';
import { ask } from '@kith/service';
import { handlerEngines, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { holdRow } from '../../../tests/support/hold-row.ts';
import { smallPng } from '../../../tests/support/multipart.ts';
import type { Owner } from '../src/file.ts';
import { FileStore } from '../src/store/index.ts';
import { signedRequest, Upload, upload } from './support/bytes-client.ts';
import { someone, World } from './support/world.ts';

const mebibyte = 1024 * 1024;
const nothing = { files: 0, bytes: 0, loose: [], projectBytes: 0, rows: [], keys: [], unfinished: 0 };

describe.each(handlerEngines())('concurrent requests to storage (%s)', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await World.start(engine);
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const isNoted = (owner: Owner, count: number) =>
    waitFor(async () => (await world.place.held(owner)).loose.length === count, { what: 'the notes' });
  /** Expects that no bytes of any user are left. It checks the bytes of all users, because no test leaves a file. */
  const isEmpty = async (owner: Owner) => {
    const isGone = async () => {
      const { keys, loose } = await world.place.held(owner);
      return keys.length === 0 && loose.length === 0;
    };
    await waitFor(isGone, { what: 'an empty home' });
    expect(await world.place.held(owner)).toEqual(nothing);
  };
  const eventsOf = ({ userId }: Owner) =>
    world.events
      .filter(({ actorId }) => actorId === userId)
      .map(({ type, aggregate }) => `${aggregate.seq} ${type}`);

  it.each([
    ['in one process', 0],
    ['in two processes', 1],
  ])('only one of two uploads that together exceed the quota is stored, %s', async (_, other) => {
    await world.serve({ instances: 2, quotas: { projectBytes: mebibyte, userBytes: 1_000 } });
    const owner = someone();
    const uploads = [world.begin(owner), world.begin(owner, other)];
    for (const one of uploads) await one.write(Buffer.alloc(600));
    await isNoted(owner, 2);
    const answers = await Promise.all(uploads.map((one) => one.finish()));
    expect(answers.map((answer) => answer?.status).sort()).toEqual([201, 403]);
    expect(answers.find((answer) => answer?.status === 403)?.json.code).toBe('storage/quota-exceeded');
    const held = await world.place.held(owner);
    expect(held).toMatchObject({ files: 1, bytes: 600, projectBytes: 600, loose: [], unfinished: 0 });
    expect(held.rows).toHaveLength(1);
    expect(held.keys).toHaveLength(1);
    // A file is refused if it is one byte larger than the rest of the quota. A file that is exactly as large as this rest is
    // stored.
    expect((await world.upload(owner, Buffer.alloc(401)))?.status).toBe(403);
    const rest = await world.file(owner, Buffer.alloc(400));
    // An empty file does not exceed a quota that is used up (spec#storage-quota).
    expect((await world.upload(owner, Buffer.alloc(1)))?.status).toBe(403);
    const empty = await world.file(owner, Buffer.alloc(0));
    for (const id of [rest, empty, held.rows[0]?.id ?? '']) await world.delete(owner, id);
    await isEmpty(owner);
  });

  it('a process that checks the quota counts what another process has stored or deleted', async () => {
    await world.serve({ instances: 2, quotas: { projectBytes: mebibyte, userBytes: 1_000 } });
    const owner = someone();
    const statusAt = async (instance: number, bytes: number) => {
      const answer = await world.upload(owner, Buffer.alloc(bytes), instance);
      return { status: answer?.status, id: answer?.json.fileId as string };
    };
    // The first process gets all uploads. The deletions go to both processes in turn.
    for (let round = 0; round < 6; round++) {
      const { status, id } = await statusAt(0, 1_000);
      expect(status).toBe(201);
      expect((await world.delete(owner, id)).status).toBe(204);
    }
    const third = await statusAt(1, 900);
    const tooMuch = await statusAt(0, 200);
    expect([third, tooMuch].map(({ status }) => status)).toEqual([201, 403]);
    expect(await world.place.held(owner)).toMatchObject({
      files: 1,
      bytes: 900,
      projectBytes: 900,
      loose: [],
    });
    await world.delete(owner, third.id);
    await isEmpty(owner);
  });

  it('of two simultaneous deletions of one file, one answers 204 and the other 404', async () => {
    await world.serve({ instances: 2 });
    const owner = someone();
    for (let round = 0; round < 5; round++) {
      const id = await world.file(owner, Buffer.alloc(100));
      const answers = await Promise.all([world.delete(owner, id), world.delete(owner, id)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([204, 404]);
    }
    await isEmpty(owner);
    await waitFor(() => eventsOf(owner).length === 10, { what: 'the events' });
    const turns = Array.from({ length: 10 }, (_, at) => `${at + 1} file.${at % 2 ? 'deleted' : 'created'}`);
    expect(eventsOf(owner)).toEqual(turns);
  });

  // In the embedded form, a deletion is one step, so its row cannot be removed later than the rest, and this test does not
  // apply.
  it.runIf(engine === 'containers')(
    'while a deletion has not removed its row yet, further deletions answer 404',
    async () => {
      await world.serve({ instances: 2 });
      const owner = someone();
      const [kept, id] = [
        await world.file(owner, Buffer.alloc(50)),
        await world.file(owner, Buffer.alloc(100)),
      ];
      const { held, release } = holdRow('files');
      const first = world.delete(owner, id);
      await held;
      // Half of these deletions go to the same process as the first deletion, and have to wait until the first deletion ends.
      // The others find that the file is deleted.
      const others = Array.from({ length: 24 }, () => world.delete(owner, id));
      const { status } = await Promise.race(others).finally(release);
      expect(status).toBe(404);
      expect((await first).status).toBe(204);
      expect((await Promise.all(others)).map((one) => one.status)).toEqual(Array(24).fill(404));
      expect(await world.place.held(owner)).toMatchObject({ files: 1, bytes: 50, projectBytes: 50 });
      await world.delete(owner, kept);
      await isEmpty(owner);
    },
  );

  it.runIf(engine === 'containers')(
    'an image is not offered as a picture after its deletion, even if its row is not removed yet',
    async () => {
      await world.serve({ instances: 2 });
      const owner = someone();
      const image = await upload(world.url(), createImage, owner, smallPng);
      const fileId: string = image?.json.fileId;
      const picture = async () => {
        const request = { requestId: randomUUID(), deadline: Date.now() + 20_000 };
        return (await ask(world.runtime.bus, ownImages, { ...owner, fileIds: [fileId] }, request)).images;
      };
      expect(await picture()).toHaveLength(1);
      const { held, release } = holdRow('files');
      const deleting = world.delete(owner, fileId);
      await held;
      expect(await picture().finally(release)).toEqual([]);
      expect((await deleting).status).toBe(204);
      await isEmpty(owner);
    },
  );

  it('if a file is deleted during its download, the download continues or breaks off, and returns no wrong bytes', async () => {
    await world.serve();
    const owner = someone();
    const bytes = randomBytes(40 * mebibyte);
    const fileId = await world.file(owner, bytes);
    const outgoing = signedRequest(world.url(), getFile, { ...owner, params: { fileId } });
    outgoing.end();
    const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.on('response', resolve);
      outgoing.on('error', reject);
    });
    expect(incoming.statusCode).toBe(200);
    const received: Buffer[] = [];
    await new Promise<void>((resolve) => {
      incoming.once('data', (chunk: Buffer) => {
        incoming.pause();
        received.push(chunk);
        resolve();
      });
    });
    expect((await world.delete(owner, fileId)).status).toBe(204);
    await isEmpty(owner);
    expect((await world.get(fileId, owner))?.status).toBe(404);
    incoming.on('data', (chunk: Buffer) => received.push(chunk));
    const isWhole = await new Promise<boolean>((resolve) => {
      incoming.on('error', () => resolve(false));
      incoming.on('end', () => resolve(incoming.complete));
      incoming.resume();
    });
    const got = Buffer.concat(received);
    if (isWhole) expect(got.equals(bytes)).toBe(true);
    else expect(got.equals(bytes.subarray(0, got.length))).toBe(true);
    expect(isWhole || got.length < bytes.length).toBe(true);
  });

  it('if an upload’s change is stored and only the answer of the store is lost, the upload succeeds with a complete file', async () => {
    await world.serve();
    const owner = someone();
    const commit = FileStore.prototype.commit;
    let isLost = false;
    const losing = vi.spyOn(FileStore.prototype, 'commit').mockImplementation(async function (
      this: FileStore,
      ...change
    ) {
      losing.mockRestore();
      isLost = await commit.apply(this, change);
      throw new Error('The answer of the store was lost.');
    });
    const bytes = Buffer.alloc(300_000, 'a');
    const answer = await world.upload(owner, bytes);
    expect(answer?.status).toBe(201);
    const { doc } = await world.place.store.account(owner);
    expect([doc.files, doc.loose]).toEqual([1, []]);
    expect(isLost).toBe(true);
    const fileId: string = answer?.json.fileId;
    expect((await world.get(fileId, owner))?.body.equals(bytes)).toBe(true);
    await world.delete(owner, fileId);
    await isEmpty(owner);
  });

  it.each([
    ['when the note is stored, they are completed', 201],
    ['when the note cannot be stored, they are removed', 500],
  ])('the bytes of an upload stay incomplete while its note is not stored; %s', async (_, status) => {
    await world.serve();
    const [owner, other] = [someone(), someone()];
    const begin = FileStore.prototype.begin;
    const gate = Promise.withResolvers<void>();
    const holding = vi.spyOn(FileStore.prototype, 'begin').mockImplementation(async function (
      this: FileStore,
      ...note
    ) {
      holding.mockRestore();
      await gate.promise;
      if (status === 500) throw new Error('The store has failed.');
      return begin.apply(this, note);
    });
    const bytes = Buffer.alloc(300_000, 'a');
    const answering = world.upload(owner, bytes);
    const isComing = async () => (await world.place.held(owner)).unfinished > 0;
    await waitFor(isComing, { what: 'the first bytes' });
    // Meanwhile, five other uploads are stored and deleted. The first upload would also be stored in this time if it did not
    // have to wait for its note.
    for (let round = 0; round < 5; round++) await world.delete(other, await world.file(other, bytes));
    const keysOf = async (of: Owner) =>
      (await world.place.held(of)).keys.filter((key) => key.includes(of.userId));
    expect(await keysOf(owner)).toEqual([]);
    gate.resolve();
    const answer = await answering;
    expect(answer?.status).toBe(status);
    if (status === 201) await world.delete(owner, answer?.json.fileId);
    await isEmpty(owner);
  });

  /** Makes a deletion wait until `release` is called. Other changes of the same account have to wait, too. */
  const holdDeletion = () => {
    const gate = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const remove = FileStore.prototype.delete;
    vi.spyOn(FileStore.prototype, 'delete').mockImplementationOnce(async function (
      this: FileStore,
      ...change
    ) {
      held.resolve();
      await gate.promise;
      return remove.apply(this, change);
    });
    return { held: held.promise, release: gate.resolve };
  };

  it('a deletion that has to wait too long for its turn is refused before its deadline, and not made later', async () => {
    await world.serve();
    const owner = someone();
    const [slow, late] = [
      await world.file(owner, Buffer.alloc(10)),
      await world.file(owner, Buffer.alloc(20)),
    ];
    const { held, release } = holdDeletion();
    const first = world.delete(owner, slow);
    await held;
    const { status, body } = await world.delete(owner, late, { deadline: Date.now() + 4_000 });
    expect([status, body.code]).toEqual([503, 'gateway/unavailable']);
    release();
    expect((await first).status).toBe(204);
    // This upload has to wait for all earlier changes of the account. So if the refused deletion were still made, its file
    // would be missing now.
    const next = await world.file(owner, Buffer.alloc(30));
    expect((await world.place.held(owner)).rows.map(({ id }) => id)).toEqual([next, late]);
    for (const id of [next, late]) expect((await world.delete(owner, id)).status).toBe(204);
    await isEmpty(owner);
  });

  it('if the client closes the connection while its upload waits for its turn, no file is made', async () => {
    await world.serve();
    const owner = someone();
    const kept = await world.file(owner, Buffer.alloc(10));
    const started = Promise.withResolvers<ServerResponse>();
    const onRequest = (message: unknown) =>
      started.resolve((message as { response: ServerResponse }).response);
    subscribe('http.server.request.start', onRequest);
    const one = world.begin(owner);
    await one.write(Buffer.alloc(300_000));
    await isNoted(owner, 1);
    const response = await started.promise;
    unsubscribe('http.server.request.start', onRequest);
    const { held, release } = holdDeletion();
    const deletion = world.delete(owner, kept);
    await held;
    const reads = vi.spyOn(FileStore.prototype, 'projectBytes');
    const closed = once(response, 'close');
    void one.finish();
    await waitFor(() => reads.mock.calls.length > 0, { what: 'the wait for the turn' });
    reads.mockRestore();
    one.leave();
    await closed;
    release();
    expect((await deletion).status).toBe(204);
    await isEmpty(owner);
  });

  it('an upload leaves no data if the account of its user ends during the upload', async () => {
    await world.serve({ sweepEveryMs: 20 });
    const owner = someone();
    const kept = await world.file(owner, Buffer.alloc(100));
    const one = world.begin(owner);
    await one.write(Buffer.alloc(300_000));
    await isNoted(owner, 1);
    await world.endAccount(owner);
    const isGone = async () => (await world.place.store.account(owner)).stored === undefined;
    await waitFor(isGone, { what: 'the end of the account' });
    const answer = await one.finish();
    expect([answer?.status, answer?.json.code]).toEqual([408, 'request/timeout']);
    await isEmpty(owner);
    expect(await isGone()).toBe(true);
    expect((await world.get(kept, owner))?.status).toBe(404);
    const late = await world.upload(owner, Buffer.alloc(100));
    expect([late?.status, late?.json.code]).toEqual([401, 'auth/unauthorized']);
    await isEmpty(owner);
    expect(await isGone()).toBe(true);
  });

  it.each([
    ['a file', createFile, Buffer.alloc(300_000)],
    ['an image', createImage, smallPng],
  ])(
    'if the note of an upload cannot be stored, the upload is refused with the reason: %s',
    async (_, spec, bytes) => {
      await world.serve();
      const [full, ended] = [someone(), someone()];
      const kept = await world.file(full, Buffer.alloc(1_001));
      await world.serve({ quotas: { projectBytes: mebibyte, userBytes: 1_000 }, sweepEveryMs: 20 });
      await world.file(ended, Buffer.alloc(1_000));
      await world.endAccount(ended);
      const isGone = async () => (await world.place.store.account(ended)).stored === undefined;
      await waitFor(isGone, { what: 'the end of the account' });
      const answers = await Promise.all(
        [full, ended].map((owner) => upload(world.url(), spec, owner, bytes)),
      );
      expect(answers.map((answer) => [answer?.status, answer?.json.code])).toEqual([
        [403, 'storage/quota-exceeded'],
        [401, 'auth/unauthorized'],
      ]);
      await world.delete(full, kept);
      for (const owner of [full, ended]) await isEmpty(owner);
    },
  );

  it.each([
    ['a file', createFile, Buffer.alloc(300_000)],
    ['an image', createImage, smallPng],
  ])('an upload that takes too long is refused, and leaves no data: %s', async (_, spec, bytes) => {
    await world.serve({ sweepEveryMs: 20, looseMs: 200 });
    const owner = someone();
    const one = new Upload(world.url(), spec, owner);
    await one.write(bytes);
    await waitFor(
      async () => {
        const { stored, doc } = await world.place.store.account(owner);
        return stored !== undefined && doc.loose.length === 0;
      },
      { what: 'the end of the note' },
    );
    const answer = await one.finish();
    expect([answer?.status, answer?.json.code]).toEqual([408, 'request/timeout']);
    await isEmpty(owner);
    expect(eventsOf(owner)).toEqual([]);
  });
});
