import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBlobs } from '@kith/store/blobs';
import { expect, it, onTestFinished } from 'vitest';
import { removeOthers } from './remove-others.ts';

it('removeOthers keeps the files that are also in the source, and removes all others', async () => {
  const root = await mkdtemp(join(tmpdir(), 'kith-others-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const placeOf = (name: string) => ({ kind: 'folder', folder: join(root, name) }) as const;
  const fill = async (name: string, keys: string[]) => {
    const blobs = await openBlobs(placeOf(name));
    const bytes = async function* () {
      yield Buffer.from('bytes');
    };
    for (const key of keys) await blobs.put(key, bytes());
    await blobs.close();
  };
  await fill('from', ['p/u/1/original.bytes', 'p/u/3/original.bytes']);
  await fill('to', ['p/u/1/original.bytes', 'p/u/2/original.bytes', 'p/u/2/small', 'p/v/4/original.bytes']);
  await removeOthers(placeOf('from'), placeOf('to'));
  const left = await openBlobs(placeOf('to'));
  const keys: string[] = [];
  for await (const { key } of left.list()) keys.push(key);
  await left.close();
  expect(keys).toEqual(['p/u/1/original.bytes']);
});
