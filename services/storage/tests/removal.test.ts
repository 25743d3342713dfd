// Starts no platform and no process.
import { bucketName, openBlobs } from '@kith/store/blobs';
import { availableEngines, handlerEngines, waitFor } from '@kith/testing';
import { MongoClient, ObjectId } from 'mongodb';
import { expect, test, vi } from 'vitest';
import { blobKey } from '../src/file.ts';
import { createPlace } from './support/place.ts';
import { someone, World } from './support/world.ts';

const id = 'left-by-an-upload';

test.each(handlerEngines())(
  'accounts whose bytes cannot be removed do not delay other accounts, and are tried again (%s)',
  async (engine) => {
    await using place = await createPlace(engine);
    const { projectId } = someone();
    // The remover reads 50 accounts at a time, in the order of their ids. So the last of these 51 accounts is read only after
    // all others have failed.
    const owners = Array.from({ length: 51 }, () => someone(projectId)).toSorted((a, b) =>
      a.userId < b.userId ? -1 : 1,
    );
    for (const owner of owners) {
      await place.store.begin(await place.store.account(owner), id, 0);
      await place.blobs.put(blobKey({ ...owner, id }), [Buffer.from('bytes')] as never);
    }
    const last = owners.at(-1)!;
    const blobs = await openBlobs(place.config.blobs);
    const removeAll = blobs.removeAll.bind(blobs);
    const failing = vi.spyOn(blobs, 'removeAll').mockImplementation(async (prefix) => {
      if (!prefix.includes(last.userId)) throw new Error('The store of bytes has failed.');
      return removeAll(prefix);
    });
    await using _world = await World.start(engine, { place, blobs, sweepEveryMs: 20 });
    const isDone = async (owner = last) => (await place.held(owner)).loose.length === 0;
    await waitFor(() => isDone(), { what: 'the removal from the last account' });
    expect((await place.held(last)).keys).toHaveLength(50);
    failing.mockRestore();
    const areDone = async () => (await place.held(last)).keys.length === 0;
    await waitFor(areDone, { what: 'the removal from the other accounts' });
    for (const owner of owners) await waitFor(() => isDone(owner), { what: 'the end of the note' });
  },
);

test.each(handlerEngines())(
  'a slow sweep of bytes does not delay the erasure of users (%s)',
  async (engine) => {
    await using place = await createPlace(engine);
    const owner = someone();
    const blobs = await openBlobs(place.config.blobs);
    const slow = Promise.withResolvers<void>();
    const sweep = vi.spyOn(blobs, 'sweep').mockReturnValue(slow.promise);
    await using _world = await World.start(engine, { place, blobs, sweepEveryMs: 20 });
    await waitFor(() => sweep.mock.calls.length === 1, { what: 'the sweep of bytes' });
    await place.blobs.put(blobKey({ ...owner, id }), [Buffer.from('bytes')] as never);
    expect((await place.held(owner)).keys).toHaveLength(1);
    await place.store.erased.mark(owner, Date.now(), 60_000);
    await waitFor(async () => (await place.held(owner)).keys.length === 0, { what: 'the erasure' });
    slow.resolve();
  },
);

test.runIf(availableEngines().includes('containers'))(
  'the sweep of bytes spares an upload of a process whose clock is behind',
  async () => {
    await using place = await createPlace('containers');
    const { url, database } = place.config.blobs as { url: string; database: string };
    await using client = new MongoClient(url);
    const chunks = client.db(database).collection(`${bucketName}.chunks`);
    // The first chunk of an upload that has just begun. The clock of its process is 50 minutes behind.
    const files_id = ObjectId.createFromTime(Date.now() / 1000 - 50 * 60);
    await chunks.insertOne({ files_id, n: 0 });
    const blobs = await openBlobs(place.config.blobs);
    const sweep = vi.spyOn(blobs, 'sweep');
    await using _world = await World.start('containers', { place, blobs });
    await waitFor(() => sweep.mock.calls.length === 1, { what: 'the sweep of bytes' });
    await sweep.mock.results[0]?.value;
    expect(await chunks.countDocuments({ files_id })).toBe(1);
  },
);
