// Quick counterpart: tests/backup-files.test.ts
// Starts at most 2 platforms and 7 processes.
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BlobsConfig, openBlobs } from '@kith/store/blobs';
import { availableEngines, startPlatform, type TestPlatform, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { longResult, runKith } from './support/command.ts';
import { heldKith } from './support/held-kith.ts';
import { startInFolder } from './support/moved-installation.ts';

describe.each(availableEngines())('a backup during which files are deleted (%s)', (engine) => {
  const undo = new AsyncDisposableStack();
  let root: string;
  let platform: TestPlatform;
  beforeAll(async () => {
    root = undo.use(await mkdtempDisposable(join(tmpdir(), 'kith-backup-deleted-'))).path;
    platform = undo.use(await startPlatform({ engine }));
  });
  afterAll(() => undo.disposeAsync());

  it.each([
    ['plain', {}],
    ['sealed', { KITH_BACKUP_PASSPHRASE: 'a passphrase of this suite' }],
  ])('names none of them as missing, even if no file is left: %s', async (kind, sealed) => {
    const { engines, dataFolder, prefix, secret } = platform;
    const pathOf = (name: string) => join(root, `${kind}-${name}`);
    const [env, place]: [NodeJS.ProcessEnv, BlobsConfig] = engines
      ? [
          { MONGODB_URL: engines.mongodbUrl, NATS_URL: engines.natsUrl, KITH_PREFIX: prefix },
          { kind: 'gridfs', url: engines.mongodbUrl, database: `${prefix}_storage` },
        ]
      : [{ KITH_DATA: dataFolder }, { kind: 'folder', folder: join(dataFolder, 'files') }];
    await using opened = new AsyncDisposableStack();
    const blobs = opened.adopt(await openBlobs(place), (one) => one.close());
    const isStored = async (fileId: string) => {
      for await (const { key } of blobs.list()) if (key.includes(fileId)) return true;
      return false;
    };
    const user = await platform.createUser();
    const first = await platform.uploadFile(user, 'a file that is deleted first');
    const last = await platform.uploadFile(user, 'a file that is deleted last');
    for (const [name, { fileId }] of Object.entries({ first, last })) {
      const words = ['backup', pathOf(name), '--json'];
      // The database of identity is copied last.
      const at = engines ? 'identity.users' : 'identity.sqlite';
      const how = { env: { ...env, ...sealed, KITH_SECRET: secret }, at };
      const made = await heldKith(words, how, async () => {
        await platform.client(user).storage.deleteFile({ fileId });
        await waitFor(async () => !(await isStored(fileId)), { what: 'the removal of the bytes' });
      });
      expect([made.code, made.stderr]).toEqual([0, '']);
      const { progress, ...result } = longResult(made);
      expect(progress).not.toContain('warning');
      expect(result).not.toHaveProperty('missing');
    }
    const settings = { KITH_DATA: pathOf('restored'), KITH_SECRET: secret };
    const restored = await runKith(['restore', pathOf('first')], { ...sealed, ...settings });
    expect(restored.code).toBe(0);
    if (kind === 'plain') expect(restored.stderr).toContain('files with missing bytes: 1; ');
    await using again = await startInFolder(settings.KITH_DATA, prefix, settings);
    const statusOf = async ({ fileId }: { fileId: string }) => {
      const path = `/v7/${user.projectId}/storage/files/${fileId}`;
      const headers = { authorization: `Bearer ${user.accessToken}` };
      return (await fetch(again.url + path, { headers })).status;
    };
    expect([await statusOf(first), await statusOf(last)]).toEqual([404, 200]);
  });
});
