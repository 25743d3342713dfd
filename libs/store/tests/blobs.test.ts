// Starts no platform and at most 2 processes.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { open, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { CreateMultipartUploadCommand, ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3';
import {
  BlobDamaged,
  type Blobs,
  type BlobsConfig,
  bucketName,
  copyBlobs,
  openBlobs,
} from '@kith/store/blobs';
import { availableBlobHomes, type BlobHome, createBlobHome, waitFor } from '@kith/testing';
import { MongoClient, ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { s3Place } from '../src/blobs/s3-blobs.ts';

const mebibyte = 1024 * 1024;

async function* bytesOf(text: string) {
  yield Buffer.from(text);
}

it('if a copy fails during the listing, `copyBlobs` rejects only after all other copies have ended', async () => {
  const keys = Array.from({ length: 4 }, (_, index) => `a/${index}`);
  const ended: string[] = [];
  const copied = copyBlobs(
    {
      async *list() {
        for (const key of keys) {
          yield { key, size: 1 };
          // The copy of the first blob fails during this pause.
          await new Promise(setImmediate);
        }
      },
      read: async () => bytesOf('a'),
    },
    {
      async *list() {},
      async put(key) {
        if (key === keys[0]) throw new Error('The disk is full.');
        await new Promise(setImmediate);
        ended.push(key);
        return 1;
      },
    },
  );
  await expect(copied).rejects.toThrow('The disk is full.');
  const before = [...ended];
  await new Promise(setImmediate);
  expect(ended).toEqual(before);
});

it('`copyBlobs` copies only missing blobs, without a list of all blobs of the other store', async () => {
  const held = Array.from({ length: 1_000 }, (_, index) => ({ key: `held/${index}/a`, size: 1 }));
  let listed = 0;
  const copied: string[] = [];
  const from = [...held.slice(-2), { key: 'held/0/a', size: 2 }, { key: 'new/0/a', size: 1 }];
  const count = await copyBlobs(
    {
      async *list() {
        yield* from;
      },
      read: async (key) => bytesOf(key),
    },
    {
      async *list(prefix = '') {
        for (const one of held.filter(({ key }) => key.startsWith(prefix))) {
          listed++;
          yield one;
        }
      },
      async put(key) {
        copied.push(key);
        return 1;
      },
    },
  );
  expect([count, copied.toSorted()]).toEqual([4, ['held/0/a', 'new/0/a']]);
  expect(listed).toBeLessThan(10);
});

it.each(['stat', 'read'] as const)(
  'a blob counts as damaged if the disk cannot read it, but not if the whole folder is gone (%s)',
  async (call) => {
    await using home = await createBlobHome('folder');
    const { folder } = home.config as { folder: string };
    const blobs = await openBlobs(home.config);
    await blobs.put('a/one', Readable.from([randomBytes(10)]));
    const read = async () => {
      for await (const _ of (await blobs.read('a/one')) ?? []);
    };
    const failure = Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
    // The handles of all files have the same prototype.
    await using handle = await open(folder);
    using disk = vi.spyOn(Object.getPrototypeOf(handle) as typeof handle, call);
    disk.mockRejectedValueOnce(failure);
    await expect(read()).rejects.toThrow(BlobDamaged);
    disk.mockImplementationOnce(async () => {
      await rm(folder, { recursive: true });
      throw failure;
    });
    await expect(read()).rejects.toBe(failure);
  },
);

describe.each(availableBlobHomes())('a store of bytes in %s', (kind) => {
  let home: BlobHome;
  let blobs: Blobs;
  beforeAll(async () => {
    home = await createBlobHome(kind);
    blobs = await openBlobs(home.config);
  });
  afterAll(async () => {
    await blobs?.close();
    await home?.[Symbol.asyncDispose]();
  });

  /** Splits bytes into pieces of an odd size. */
  async function* pieces(bytes: Uint8Array, size = 100_003) {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const read = async (key: string, range?: { start: number; end: number }) => {
    const found = await blobs.read(key, range);
    if (!found) return undefined;
    const chunks: Buffer[] = [];
    for await (const chunk of found) chunks.push(Buffer.from(chunk));
    return Buffer.concat(chunks);
  };
  const keys = async (prefix?: string) => {
    const found: string[] = [];
    for await (const { key } of blobs.list(prefix)) found.push(key);
    return found.toSorted();
  };

  it.each([0, 1, 255 * 1024, 6 * mebibyte + 7])(
    'returns %i bytes unchanged, and any part of them',
    async (size) => {
      const bytes = randomBytes(size);
      const key = `sizes/of/${size}`;
      expect(await blobs.put(key, pieces(bytes))).toBe(size);
      expect((await read(key))?.equals(bytes)).toBe(true);
      const middle = Math.floor(size / 2);
      for (const [start, end] of [
        [0, 0],
        [middle, size - 1],
        [size - 1, size - 1],
        [middle, middle + 300_000],
      ]) {
        if (start! >= size || start! < 0) continue;
        const part = await read(key, { start: start!, end: Math.min(end!, size - 1) });
        expect(part?.equals(bytes.subarray(start, end! + 1))).toBe(true);
      }
    },
  );

  it.runIf(kind === 's3')('slow readers do not hold up other requests', async () => {
    await blobs.put('slow/readers/a', pieces(randomBytes(8 * mebibyte)));
    const readers = Array.from({ length: 60 }, async () => {
      const found = (await blobs.read('slow/readers/a'))?.[Symbol.asyncIterator]();
      await found?.next();
      return found;
    });
    const reading = await Promise.all(readers);
    expect(await blobs.put('slow/readers/b', pieces(randomBytes(1)))).toBe(1);
    for (const found of reading) await found?.return?.();
  });

  it('has nothing under keys that were never used', async () => {
    expect(await blobs.read('nobody/has/this')).toBeUndefined();
    await blobs.removeAll('nobody/');
    expect(await keys('nobody/')).toEqual([]);
  });

  it('stores nothing if the source fails, even after many bytes', async () => {
    for (const size of [1, 300_000, 7 * mebibyte]) {
      const source = async function* () {
        yield* pieces(randomBytes(size));
        throw new Error('cut off');
      };
      await expect(blobs.put('failed/one', source())).rejects.toThrow('cut off');
    }
    expect(await keys('failed/')).toEqual([]);
    expect(await blobs.read('failed/one')).toBeUndefined();
    await waitFor(async () => (await home.unfinished()) === 0, { what: 'nothing left' });
  });

  // If the file were created later, it could be created after the source has failed. Then nobody would remove it.
  it.runIf(kind === 'folder')('creates its file before it reads from the source', async () => {
    let files: number | undefined;
    const source = async function* () {
      files = await home.unfinished();
      yield* pieces(randomBytes(1));
    };
    await blobs.put('late/one', source());
    expect(files).toBe(1);
  });

  it('stores nothing if the signal is aborted', async () => {
    for (const size of [0, 300_000, 7 * mebibyte]) {
      for (const isSilent of [false, true]) {
        const stop = new AbortController();
        const source = async function* () {
          yield* pieces(randomBytes(size));
          if (isSilent) setImmediate(() => stop.abort(new Error('given up')));
          else {
            stop.abort(new Error('given up'));
            yield randomBytes(10);
          }
          await wait(60_000, undefined, { ref: false });
        };
        const put = blobs.put('stopped/one', source(), { signal: stop.signal });
        await expect(put).rejects.toThrow('given up');
      }
    }
    expect(await keys('stopped/')).toEqual([]);
    await waitFor(async () => (await home.unfinished()) === 0, { what: 'nothing left' });
  });

  it('removes only the blobs below a prefix', async () => {
    const all = ['p/u/f/a', 'p/u/f/b', 'p/u/f2/a', 'p/u2/f/a', 'p/u-1/f/a'];
    for (const key of all) await blobs.put(key, pieces(Buffer.from(key)));
    expect(await keys('p/u/f/')).toEqual(['p/u/f/a', 'p/u/f/b']);
    await blobs.removeAll('p/u/f/');
    expect(await keys('p/')).toEqual(['p/u-1/f/a', 'p/u/f2/a', 'p/u2/f/a']);
    await blobs.removeAll('p/u/');
    expect(await keys('p/')).toEqual(['p/u-1/f/a', 'p/u2/f/a']);
    expect(await read('p/u2/f/a')).toEqual(Buffer.from('p/u2/f/a'));
    expect(await blobs.read('p/u/f/a')).toBeUndefined();
  });

  it('can store and remove blobs at the same time', async () => {
    const all = Array.from({ length: 20 }, (_, index) => `many/${index % 3}/${index}`);
    await Promise.all(
      all.map(async (key, index) => {
        await blobs.put(key, pieces(randomBytes(10_000)));
        if (index % 2 === 0) await blobs.put(`gone/${index}/a`, pieces(randomBytes(10)));
        if (index % 2 === 0) await blobs.removeAll(`gone/${index}/`);
      }),
    );
    expect(await keys('many/')).toEqual(all.toSorted());
    expect(await keys('gone/')).toEqual([]);
  });

  it.runIf(kind === 'folder')(
    'can store a blob in a folder that is repeatedly removed while it is empty',
    async () => {
      const rounds = 50;
      for (let round = 0; round < rounds; round++) {
        let isStored = false;
        const removing = Array.from({ length: 4 }, async () => {
          while (!isStored) await blobs.removeAll(`busy/${round}/gone/a/`);
        });
        const puts = [0, 1, 2, 3].map((index) =>
          blobs.put(`busy/${round}/${index}/a`, pieces(randomBytes(1))),
        );
        const outcomes = await Promise.allSettled(puts);
        isStored = true;
        await Promise.all(removing);
        expect(outcomes).toEqual(puts.map(() => ({ status: 'fulfilled', value: 1 })));
      }
      expect(await keys('busy/')).toHaveLength(rounds * 4);
    },
  );

  it('can list blobs while they are removed', async () => {
    for (const name of ['1', '2', '3']) await blobs.put(`going/a/${name}`, pieces(randomBytes(10)));
    const listed = blobs.list('going/')[Symbol.asyncIterator]();
    expect((await listed.next()).value).toMatchObject({ size: 10 });
    await blobs.removeAll('going/');
    while (!(await listed.next()).done);
    expect(await keys('going/')).toEqual([]);
  });

  it('copies a blob completely or not at all if it is removed during the copy', async () => {
    await using target = await createBlobHome('folder');
    const copies = await openBlobs(target.config);
    const size = 300_000;
    await blobs.put('going/one/a', pieces(randomBytes(size)));
    const read = async (key: string) => {
      const bytes = await blobs.read(key);
      await blobs.removeAll('going/one/');
      return bytes;
    };
    expect(await copyBlobs({ list: () => blobs.list('going/one/'), read }, copies)).toBe(1);
    for await (const copied of copies.list()) expect(copied).toEqual({ key: 'going/one/a', size });
  });

  it.runIf(kind === 'gridfs')('rejects the read of a blob whose last chunk is missing', async () => {
    const { url, database } = home.config as { url: string; database: string };
    await using ending = new AsyncDisposableStack();
    const client = ending.adopt(new MongoClient(url), (one) => one.close());
    const db = client.db(database);
    await blobs.put('cut/one', pieces(randomBytes(300_000)));
    const file = await db.collection(`${bucketName}.files`).findOne({ filename: 'cut/one' });
    await db.collection(`${bucketName}.chunks`).deleteOne({ files_id: file!._id, n: 1 });
    await expect(read('cut/one')).rejects.toThrow(BlobDamaged);
    await blobs.removeAll('cut/');
  });

  it('copies the readable bytes of a damaged blob, and names damaged and missing blobs', async () => {
    await using target = await createBlobHome('folder');
    const copies = await openBlobs(target.config);
    const bytes = randomBytes(300_000);
    const readable = 255 * 1024;
    await blobs.put('damaged/whole', pieces(bytes));
    if (home.config.kind === 'gridfs') {
      await using client = new MongoClient(home.config.url);
      const db = client.db(home.config.database);
      await blobs.put('damaged/cut', pieces(bytes));
      const file = await db.collection(`${bucketName}.files`).findOne({ filename: 'damaged/cut' });
      await db.collection(`${bucketName}.chunks`).deleteOne({ files_id: file!._id, n: 1 });
    } else {
      // A file that has lost its end looks the same as a file that was stored with fewer bytes.
      await blobs.put('damaged/cut', pieces(bytes.subarray(0, readable)));
    }
    const names = ['damaged/cut', 'damaged/missing', 'damaged/whole'];
    const recorded = names.map((key) => ({ key, size: bytes.length }));
    const list = async function* () {
      yield* recorded;
    };
    const faults: string[] = [];
    await copyBlobs({ list, read: (key) => blobs.read(key) }, copies, {
      faults: {
        damaged: ({ key }) => faults.push(`${key} is damaged`),
        missing: async ({ key }) => void faults.push(`${key} is missing`),
      },
    });
    expect(faults.toSorted()).toEqual(['damaged/cut is damaged', 'damaged/missing is missing']);
    const sizes: Record<string, number> = {};
    for await (const { key, size } of copies.list()) sizes[key] = size;
    expect(sizes).toEqual({ 'damaged/cut': readable, 'damaged/whole': bytes.length });
    await blobs.removeAll('damaged/');
  });

  // A reader is as slow as its client, and there may be many readers. So no reader may use much memory.
  it.runIf(kind === 'gridfs')('has only a few chunks of a blob in memory while it is read', async () => {
    const { url, database } = home.config as { url: string; database: string };
    const size = 12 * mebibyte;
    await blobs.put('slow/one', pieces(randomBytes(size), mebibyte));
    let received = 0;
    const server = new URL(url);
    const { hostname, port } = server;
    const proxy = createServer((inside) => {
      const outside = connect(Number(port || 27017), hostname);
      // The pipelines below end both connections when either side ends, even if the other side is still sending.
      outside.on('data', (chunk) => {
        received += chunk.length;
      });
      pipeline(inside, outside, () => inside.destroy());
      pipeline(outside, inside, () => outside.destroy());
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    server.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    server.searchParams.set('directConnection', 'true');
    const far = await openBlobs({ kind: 'gridfs', url: server.href, database });
    const before = received;
    for await (const _ of (await far.read('slow/one')) ?? []) break;
    expect(received - before).toBeGreaterThan(0);
    expect(received - before).toBeLessThan(size / 2);
    await far.close();
    proxy.close();
    await blobs.removeAll('slow/');
  });

  it.runIf(kind === 's3')('sweeps more unfinished uploads than fit on one page', async () => {
    const { bucket: Bucket, prefix, ...place } = s3Place((home.config as { url: string }).url);
    using client = Object.assign(new S3Client({ ...place, forcePathStyle: true }), {
      [Symbol.dispose]: () => client.destroy(),
    });
    const count = 1_010;
    for (let at = 0; at < count; at += 10) {
      await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          client.send(new CreateMultipartUploadCommand({ Bucket, Key: `${prefix}left/${at + index}` })),
        ),
      );
    }
    const left = async () => {
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
      return Uploads.length;
    };
    expect(await left()).toBe(1_000);
    await blobs.sweep(-2_000);
    expect(await left()).toBe(0);
  });

  it('refuses keys that could lead outside the store', async () => {
    for (const key of ['../a', 'a/../b', '/a', 'a//b', 'a/.b', '', '.', 'a/ü', 'a\0b']) {
      await expect((async () => blobs.put(key, pieces(randomBytes(1))))()).rejects.toThrow(TypeError);
      await expect((async () => blobs.read(key))()).rejects.toThrow(TypeError);
    }
  });

  // MongoDB removes the chunks one after another. If a removal is interrupted, any of the chunks may still be there.
  it.runIf(kind === 'gridfs')('sweeps the chunks that remain after interrupted removals', async () => {
    const { url, database } = home.config as BlobsConfig & { kind: 'gridfs' };
    await using client = new MongoClient(url);
    const files = client.db(database).collection('blobs.files');
    const chunks = client.db(database).collection('blobs.chunks');
    for (const left of [{ $gte: 0 }, { $gt: 0 }, { $gt: 1 }, { $lt: 2 }]) {
      await blobs.put('interrupted/one', pieces(randomBytes(mebibyte)));
      const file = await files.findOneAndDelete({ filename: 'interrupted/one' });
      await chunks.deleteMany({ files_id: file?._id, n: { $not: left } });
      expect(await home.unfinished()).toBeGreaterThan(0);
      // The ids of files contain the time in whole seconds. With an age of -2 s, the sweep also takes files that were made just
      // now.
      await blobs.sweep(-2_000);
      expect(await home.unfinished()).toBe(0);
    }
    // The two removed files below have more chunks than the sweep looks at in one query.
    const bytes = randomBytes(mebibyte);
    await blobs.put('interrupted/not', pieces(bytes));
    const removed = [new ObjectId(), new ObjectId()];
    await chunks.insertMany(Array.from({ length: 2_600 }, (_, n) => ({ files_id: removed[n % 2], n })));
    await blobs.sweep(-2_000);
    expect(await home.unfinished()).toBe(0);
    expect((await read('interrupted/not'))?.equals(bytes)).toBe(true);
  });

  it.runIf(kind === 'gridfs')('looks at the chunks of old files once a day, in one process', async () => {
    const { url, database } = home.config as BlobsConfig & { kind: 'gridfs' };
    await using client = new MongoClient(url);
    const db = client.db(database);
    const chunks = db.collection('blobs.chunks');
    const passes = db.collection('blobs.passes');
    const oldId = ObjectId.createFromTime(Date.now() / 1000 - 2 * 86_400);
    const bytes = randomBytes(300_000);
    const key = 'old/one';
    await blobs.put(key, pieces(bytes));
    // Makes the file old: its document and its chunks get an old id.
    const file = await db.collection('blobs.files').findOneAndDelete({ filename: key });
    await db.collection('blobs.files').insertOne({ ...file, _id: oldId });
    await chunks.updateMany({ files_id: file?._id }, { $set: { files_id: oldId } });
    const leave = () =>
      chunks.insertOne({ files_id: ObjectId.createFromTime(Date.now() / 1000 - 3 * 86_400), n: 1 });

    await passes.deleteMany({});
    const another = await openBlobs(home.config);
    await leave();
    await Promise.all([blobs.sweep(60_000), another.sweep(60_000)]);
    expect(await home.unfinished()).toBe(0);

    await leave();
    await chunks.insertOne({ files_id: ObjectId.createFromTime(Date.now() / 1000 - 120), n: 1 });
    await Promise.all([blobs.sweep(60_000), another.sweep(60_000)]);
    // Only the recent chunk was removed, because the daily pass had been made before.
    expect(await home.unfinished()).toBe(1);

    await passes.updateMany({}, [{ $set: { at: { $subtract: ['$at', 86_400_000] } } }]);
    await Promise.all([blobs.sweep(60_000), another.sweep(60_000)]);
    expect(await home.unfinished()).toBe(0);
    expect((await read(key))?.equals(bytes)).toBe(true);
    await another.close();
  });

  it('does not sweep complete blobs', async () => {
    await blobs.put('kept/one', pieces(randomBytes(300_000)));
    await blobs.sweep(0);
    expect((await read('kept/one'))?.length).toBe(300_000);
    await blobs.check();
  });
});
