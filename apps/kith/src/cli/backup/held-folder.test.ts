import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { lockFolder } from '../../forms/folder-lock.ts';
import { inHeldFolder } from './held-folder.ts';

let path: string;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'kith-held-'));
});
afterEach(() => rm(path, { recursive: true, force: true }));

const write = () => writeFile(join(path, 'data'), 'unsealed');

it('data is removed while the folder is still held', async () => {
  await inHeldFolder(path, write);
  expect(existsSync(path)).toBe(false);
});

it('data of failed work is removed while the folder is still held', async () => {
  const failing = async () => {
    await write();
    throw new Error('no space');
  };
  await expect(inHeldFolder(path, failing)).rejects.toThrow('no space');
  expect(existsSync(path)).toBe(false);
});

it('work on sealed data is also done where the folder cannot be locked, and other work is not', async () => {
  // On a file system without locks, the call fails in the same way as with this lock.
  using _ = lockFolder(path, () => 'This test');
  await expect(inHeldFolder(path, write)).rejects.toThrow(
    `Another kith uses the folder ${path}; stop it, or choose another folder.`,
  );
  expect(await readdir(path)).not.toContain('data');
  let during: string[] = [];
  const work = async () => {
    await write();
    during = await readdir(path);
  };
  await inHeldFolder(path, work, { isSealed: true });
  // If the folder had the mark, another backup would conclude that its process is dead.
  expect(during).toContain('data');
  expect(during).not.toContain('unfinished');
  expect(existsSync(path)).toBe(false);
});
