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

it('after the work, the data is removed and the folder is gone', async () => {
  await inHeldFolder(path, write);
  expect(existsSync(path)).toBe(false);
});

it('after failed work, the data is removed and the folder is gone', async () => {
  const failing = async () => {
    await write();
    throw new Error('no space');
  };
  await expect(inHeldFolder(path, failing)).rejects.toThrow('no space');
  expect(existsSync(path)).toBe(false);
});

it('in a folder that cannot be locked, work on sealed data is done, and other work is refused', async () => {
  // With this lock, `inHeldFolder` fails in the same way as on a file system without locks.
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
  // The folder is not locked. If it had the mark `unfinished`, another backup would conclude that the folder's process is dead.
  expect(during).toContain('data');
  expect(during).not.toContain('unfinished');
  expect(existsSync(path)).toBe(false);
});
