import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { markMoved } from '@kith/store/sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { BackupManifest } from '../../forms/backup-manifest.ts';
import { openDataFolder } from '../../forms/data-folder.ts';
import { prepareFolder } from './prepared-folder.ts';

const time = '2020-01-01T00:00:00.000Z';
const manifest: BackupManifest = {
  ...{ format: 1, version: '1.0.0', begunAt: time, endedAt: time, form: 'embedded', isAnonymised: false },
  ...{ settings: { KITH_PREFIX: 'kith', TOKEN_ISSUER: 'kith', TOKEN_AUDIENCE: 'kith' }, counts: [] },
};
let root: string;
let path: string;
const prepare = (erased?: []) =>
  prepareFolder(path, { manifest, erased, prefix: 'kith' }, async (partial) => {
    new DatabaseSync(join(partial, 'events.sqlite')).close();
    await writeFile(join(partial, 'made'), erased ? 'with a list' : 'without');
    return [];
  });

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'kith-prepared-'));
  path = join(root, 'backup.restoring');
});
afterEach(() => rm(root, { recursive: true, force: true }));

it('while another run fills databases from a folder, the folder is not replaced', async () => {
  await prepare();
  const folder = openDataFolder(path);
  try {
    await expect(prepare([])).rejects.toThrow('Another Kith process uses');
    expect(folder.read('made')).toBe('without');
    expect(await readdir(root)).toEqual(['backup.restoring']);
  } finally {
    folder.release();
  }
  await prepare([]);
  const again = openDataFolder(path);
  expect(again.read('made')).toBe('with a list');
  again.release();
});

it('a moved folder without a note is from an earlier version, and is not prepared again', async () => {
  await mkdir(path);
  markMoved(join(path, 'events.sqlite'));
  expect(await prepare()).toEqual([]);
  expect(await prepare([])).toEqual([]);
  expect((await readdir(path)).includes('made')).toBe(false);
});

it('a moved folder that was prepared with another list of erasures is refused', async () => {
  await prepare();
  markMoved(join(path, 'events.sqlite'));
  await expect(prepare([])).rejects.toThrow('another list of erasures and is nearly complete');
  expect(await prepare()).toEqual([]);
});
