// Starts at most 0 platforms and 0 processes.
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { caller } from '@kith/platform';
import { openBlobs } from '@kith/store/blobs';
import { createPeople, createUploads, type TestUser, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runKith } from './support/command.ts';
import { operatorToken, startInFolder } from './support/moved-installation.ts';

describe('a backup of a platform whose files lie elsewhere', () => {
  let root: string;
  let leaver: TestUser;
  let other: TestUser;
  let fileOfOther: string;
  const pathOf = (name: string) => join(root, name);
  const keysIn = async (folder: string) => {
    const blobs = await openBlobs({ kind: 'folder', folder });
    const keys: string[] = [];
    for await (const { key } of blobs.list()) keys.push(key);
    return keys.toSorted();
  };
  /** Settings that name places outside of the data folder, in files as secrets are often given. */
  const elsewhere = () => ({ STORAGE_URL_FILE: pathOf('url'), ERASURES_FILE: pathOf('erasures.jsonl') });
  const backUp = (name: string, env: NodeJS.ProcessEnv = elsewhere()) =>
    runKith(['backup', pathOf(name)], { KITH_DATA: pathOf('data'), ...env });

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'kith-backup-files-'));
    await writeFile(pathOf('url'), pathToFileURL(pathOf('bucket')).href);
    await using platform = await startInFolder(pathOf('data'), undefined, elsewhere());
    const people = createPeople(caller(platform.url), operatorToken);
    const { id } = await people.createProject();
    [leaver, other] = [await people.createUser(id), await people.createUser(id)];
    const { uploadFile } = createUploads(platform.url);
    await uploadFile(leaver, 'a file of an account that is deleted');
    fileOfOther = (await uploadFile(other, 'a file that is deleted')).fileId;
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  it('starts as a copy whose changes leave these places alone', async () => {
    const before = await keysIn(pathOf('bucket'));
    expect(before).toHaveLength(2);
    const made = await backUp('copy');
    expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('files: 2')]);
    {
      await using platform = await startInFolder(pathOf('copy'), undefined, elsewhere());
      const call = caller(platform.url);
      const path = `/v7/${other.projectId}/storage/files/${fileOfOther}`;
      await call('DELETE', path, { token: other.accessToken });
      await call('DELETE', `/v7/${leaver.projectId}/users/${leaver.id}`, { token: leaver.accessToken });
      await waitFor(async () => (await keysIn(join(pathOf('copy'), 'files'))).length === 0, {
        what: 'the removal of the copied bytes',
      });
    }
    expect(await keysIn(pathOf('bucket'))).toEqual(before);
    expect(existsSync(pathOf('erasures.jsonl'))).toBe(false);
    expect(await readFile(join(pathOf('copy'), 'erasures.jsonl'), 'utf8')).toContain(leaver.id);
  });
});
