import { randomUUID } from 'node:crypto';
import { createImage, eraseProjectFiles, internalSubject, knownUsers } from '@kith/contracts';
import { ask, successReply } from '@kith/service';
import { dumpStore, handlerEngines, waitFor } from '@kith/testing';
import { describe, expect, it } from 'vitest';
import { smallPng } from '../../../tests/support/multipart.ts';
import { blobKey, type Owner } from '../src/file.ts';
import { upload } from './support/bytes-client.ts';
import { type FileEvent, someone, World } from './support/world.ts';

/**
 * The tables or collections in which an id occurs. Two kinds of marks are not searched, because they expire by themselves.
 * These are the marks of users whose accounts have ended and, on MongoDB, the marks that prevent removed rows from being
 * written again.
 */
async function placesOf({ place }: World, id: string): Promise<string[]> {
  const { erased: _, ...others } = await dumpStore(place.config.store);
  const rows = Object.entries(others).flatMap(([name, all]) => all.map((row) => ({ name, row })));
  const found = rows.filter(({ row }) => row.gone !== true && JSON.stringify(row).includes(id));
  return found.map(({ name }) => name);
}

/** Waits until an id occurs nowhere in the store. */
function isErased(world: World, id: string): Promise<boolean> {
  const probe = async () => {
    const left = await placesOf(world, id);
    if (left.length > 0) throw new Error(`It still occurs in ${left.join(', ')}.`);
    return true;
  };
  return waitFor(probe, { what: 'the erasure', timeoutMs: 25_000 });
}

/** Returns all events that are still on the bus. First uploads one more file, so that the event of this file is the last. */
async function eventsOnBus(world: World, witness: Owner): Promise<FileEvent[]> {
  const { bus } = world.runtime;
  const events: FileEvent[] = [];
  const last = await world.file(witness, Buffer.from('the last'));
  const all = { durable: `test-${randomUUID()}`, subjects: [`${bus.prefix}.event.*.file.>`] };
  await bus.consume(all, async ({ body }) => {
    events.push(JSON.parse(new TextDecoder().decode(body)));
  });
  await waitFor(() => events.some(({ data }) => data.fileId === last), { what: 'the last event' });
  return events;
}

/** Stores a file and an image, deletes another file with an idempotency key, and leaves the bytes of an unfinished upload. */
async function fill(world: World, owner: Owner): Promise<string> {
  const { place } = world;
  const kept = await world.file(owner, Buffer.from(`the bytes of ${owner.userId}`));
  const sizes = [{ name: 'sizes', value: '{"small":8}' }];
  expect((await upload(world.url(), createImage, owner, smallPng, sizes))?.status).toBe(201);
  const gone = await world.file(owner, Buffer.from('soon gone'));
  expect((await world.delete(owner, gone, { idempotencyKey: 'a key' })).status).toBe(204);
  await waitFor(async () => (await place.held(owner)).loose.length === 0, { what: 'the removal' });
  const id = randomUUID();
  const isNoted = async () => place.store.begin(await place.store.account(owner), id, Date.now() + 3_600_000);
  await waitFor(isNoted, { what: 'the note' });
  await place.blobs.put(blobKey({ ...owner, id }), [Buffer.from('of nobody')] as never);
  return kept;
}

const repliesOf = async ({ place }: World) => (await dumpStore(place.config.store)).replies?.length;

describe.each(handlerEngines())('the erasure of a user or a project (%s)', { timeout: 60_000 }, (engine) => {
  it('removes the rows, account, sums, bytes, events and stored answers of a user, and nothing of another user', async () => {
    await using world = await World.start(engine, { sweepEveryMs: 50 });
    const gone = someone();
    const stays = someone(gone.projectId);
    const lost = await fill(world, gone);
    const kept = await fill(world, stays);
    const before = await world.place.held(stays);
    const { bytes } = await world.place.held(gone);
    expect(before.projectBytes).toBe(before.bytes + bytes);
    expect(await placesOf(world, gone.userId)).toEqual(
      expect.arrayContaining(['accounts', 'files', 'replies']),
    );
    expect(await repliesOf(world)).toBe(2);
    expect((await eventsOnBus(world, stays)).filter(({ actorId }) => actorId === gone.userId)).toHaveLength(
      4,
    );

    await world.endAccount(gone);
    await isErased(world, gone.userId);
    expect(await repliesOf(world)).toBe(1);
    const { keys } = await world.place.held(gone);
    expect(keys.filter((key) => !key.startsWith(`${stays.projectId}/${stays.userId}/`))).toEqual([]);
    expect((await world.get(lost, gone))?.status).toBe(404);
    const told = await eventsOnBus(world, stays);
    expect(told.filter((event) => JSON.stringify(event).includes(gone.userId))).toEqual([]);

    const after = await world.place.held(stays);
    expect(after.bytes).toBe(before.bytes + 2 * 'the last'.length);
    expect(after.projectBytes).toBe(after.bytes);
    expect(after.rows.slice(2)).toEqual(before.rows);
    expect(after.loose).toEqual(before.loose);
    for (const key of before.keys.filter((one) => one.includes(stays.userId))) expect(keys).toContain(key);
    expect((await world.get(kept, stays))?.body.toString()).toBe(`the bytes of ${stays.userId}`);
    expect(told.map(({ aggregate }) => aggregate.seq)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('removes nothing of a user who exists again, if the event reports the end of an earlier account of this user', async () => {
    await using world = await World.start(engine);
    const { bus } = world.runtime;
    const back = someone();
    const gone = someone(back.projectId);
    await bus.serve(internalSubject(bus.prefix, knownUsers), 'identity', async () =>
      successReply(200, { isProject: true, ids: [back.userId], foreignIds: [] }, {}),
    );
    const kept = await world.file(back, Buffer.from('kept'));
    await world.file(gone, Buffer.from('erased'));
    await world.endAccount(back, new Date(Date.now() - 10 * 24 * 3600 * 1000));
    await waitFor(async () => (await bus.backlog('storage-users')).pending === 0);
    await world.endAccount(gone);
    await isErased(world, gone.userId);
    expect((await world.get(kept, back))?.body.toString()).toBe('kept');
  });

  it('removes everything that the users of a deleted project have left, and nothing of another project', async () => {
    await using world = await World.start(engine, { sweepEveryMs: 50 });
    const [ada, other] = [someone(), someone()];
    const grace = someone(ada.projectId);
    const { projectId } = ada;
    for (const owner of [ada, grace, other]) await fill(world, owner);
    const stray = blobKey({ ...someone(projectId), id: randomUUID() });
    const erase = () =>
      ask(
        world.runtime.bus,
        eraseProjectFiles,
        { projectId },
        { requestId: 't', deadline: Date.now() + 5_000 },
      );
    expect(await erase()).toEqual({ isDone: false });
    expect((await world.place.held(ada)).rows).toHaveLength(2);

    await world.endAccount(ada);
    await world.endAccount(grace);
    for (const { userId } of [ada, grace]) await isErased(world, userId);
    // These bytes belong to a user without an account, so only the erasure of the whole project can find them.
    await world.place.blobs.put(stray, [Buffer.from('of nobody')] as never);
    await waitFor(async () => (await erase()).isDone, { what: 'the erasure of the project' });
    expect(await placesOf(world, projectId)).toEqual([]);
    const rest = await world.place.held(other);
    expect(rest.keys.filter((key) => !key.startsWith(`${other.projectId}/`))).toEqual([]);
    expect(rest).toMatchObject({ files: 2, projectBytes: rest.bytes });
    expect(rest.keys).toHaveLength(4);
    expect(await repliesOf(world)).toBe(1);
    const told = await eventsOnBus(world, other);
    expect(told.filter((event) => JSON.stringify(event).includes(projectId))).toEqual([]);
    expect(told).toHaveLength(5);
  });
});
