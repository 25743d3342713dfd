import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiError } from '@kith/base';
import { describe, expect, it } from 'vitest';
import { ErasureList, type ErasureNote } from './erasure-list.ts';

const projectId = '6f9f4b0c-3d4e-4c7e-9a53-0f4c9f6c1a01';
const userId = '6f9f4b0c-3d4e-4c7e-9a53-0f4c9f6c1a02';

/** The notes after an erasure that fails with `error`, or that succeeds if `error` is `undefined`. */
async function notesAfter(error?: Error): Promise<ErasureNote[]> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'kith-erasures-'));
  const path = join(folder.path, 'erasures.jsonl');
  const list = await ErasureList.open(path);
  const notes = async () => (await readFile(path, 'utf8')).split('\n').filter(Boolean);
  const erased = list.noted({ projectId, userId }, async () => {
    expect(await notes()).toHaveLength(1);
    if (error) throw error;
  });
  if (error) await expect(erased).rejects.toBe(error);
  else await erased;
  return (await notes()).map((note) => JSON.parse(note));
}

const sqliteError = (errcode: number) => Object.assign(new Error(), { code: 'ERR_SQLITE_ERROR', errcode });

describe('the list of erasures', () => {
  it.each([
    ['other changes were always faster', new ApiError('gateway/unavailable')],
    ['the session of its request had ended', new ApiError('auth/unauthorized')],
    ['the disk is full', sqliteError(13)],
    ['a constraint of SQLite refuses the change', sqliteError(1811)],
  ])('withdraws the note of an erasure that was not made because %s', async (_, error) => {
    const [note, withdrawal, ...more] = await notesAfter(error);
    expect(note).toEqual({ projectId, userId, at: expect.any(String), id: expect.any(String) });
    expect(withdrawal).toEqual({ projectId, userId, at: expect.any(String), withdraws: note?.id });
    expect(more).toEqual([]);
  });

  it.each([
    ['was made', undefined],
    ['may have been made before the connection broke', new Error('connection closed')],
    ['may have reached the disk before fsync failed', sqliteError(1034)],
  ])('keeps the note of an erasure that %s', async (_, error) => {
    expect(await notesAfter(error)).toEqual([expect.objectContaining({ userId })]);
  });
});
