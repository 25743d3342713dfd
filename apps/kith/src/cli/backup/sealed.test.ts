import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type PackedEntry, packEntries, sealBytes } from '@kith/store/backup';
import { BlobRemoved, openBlobs } from '@kith/store/blobs';
import { expect, it, onTestFinished } from 'vitest';
import { filesIn } from '../../forms/files-of.ts';
import { blobEntries, openSealed } from './sealed.ts';
import { sealedFile } from './sealed-file.ts';

it('the backup lacks only a file that is removed while it is sealed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kith-sealed-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const removed = ['p/u/1/original.bytes', 'p/u/1/small'];
  const kept = ['p/u/2/original.bytes', 'p/u/3/original.bytes'];
  const source: Parameters<typeof blobEntries>[0] = {
    async *list() {
      for (const key of [kept[0]!, ...removed, kept[1]!])
        yield { key, rowId: '', size: 6, file: { fileId: '', projectId: '', userId: '' } };
    },
    async read(key) {
      // The file has two blobs. One blob is removed while it is read, and the other before it is read.
      if (key === removed[1]) return undefined;
      return (async function* () {
        yield Buffer.from('abc');
        if (removed.includes(key)) throw new BlobRemoved(key);
        yield Buffer.from('def');
      })();
    },
  };
  const missing: string[] = [];
  const entries = async function* (): AsyncGenerator<PackedEntry> {
    const text = async function* () {
      yield Buffer.from('{}');
    };
    yield { path: 'backup.json', bytes: text() };
    yield* blobEntries(source, {
      damaged: ({ key }) => expect.unreachable(key),
      missing: async ({ key }) => void missing.push(key),
    });
  };
  const passphrase = 'a passphrase of this suite';
  await pipeline(sealBytes(packEntries(entries()), passphrase), createWriteStream(join(folder, sealedFile)));
  // The first blob was certainly removed meanwhile. The second may be lost.
  expect(missing).toEqual([removed[1]]);
  await openSealed(folder, folder, passphrase);
  const opened = await openBlobs(filesIn(folder));
  const listed: Record<string, number> = {};
  for await (const { key, size } of opened.list()) listed[key] = size;
  expect(listed).toEqual(Object.fromEntries(kept.map((key) => [key, 6])));
});
