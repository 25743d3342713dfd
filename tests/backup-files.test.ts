// Starts no platform and no process.
import { randomUUID } from 'node:crypto';
import { existsSync, fstatSync, rmSync } from 'node:fs';
import {
  cp,
  type FileHandle,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { caller } from '@kith/platform';
import { runCommandLine } from '@kith/platform/cli';
import { openBlobs } from '@kith/store/blobs';
import {
  availableEngines,
  createPeople,
  createUploads,
  eraseEngines,
  startEngines,
  type TestUser,
  uniquePrefix,
  waitFor,
} from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { longResult, runKith } from './support/command.ts';
import { movedSecret, operatorToken, startInFolder } from './support/moved-installation.ts';

describe('a backup of a platform whose files are outside of the data folder', () => {
  let root: string;
  let leaver: TestUser;
  let other: TestUser;
  let fileOfLeaver: string;
  let fileOfOther: string;
  const pathOf = (name: string) => join(root, name);
  const keysIn = async (folder: string) => {
    const blobs = await openBlobs({ kind: 'folder', folder });
    const keys: string[] = [];
    for await (const { key } of blobs.list()) keys.push(key);
    return keys.toSorted();
  };
  /**
   * Settings that put the users' files and the list of erasures outside of the data folder. The value of `STORAGE_URL` is read
   * from a file, as secrets often are.
   */
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
    fileOfLeaver = (await uploadFile(leaver, 'a file of an account that is deleted')).fileId;
    fileOfOther = (await uploadFile(other, 'a file that is deleted')).fileId;
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  it('can be started; changes in the backup do not change the original files', async () => {
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
    expect(await readFile(pathOf('erasures.jsonl'), 'utf8')).toBe('');
    expect(await readFile(join(pathOf('copy'), 'erasures.jsonl'), 'utf8')).toContain(leaver.id);
  });

  it('a backup of a backup contains the files in the first backup’s folder, and has the first backup’s time', async () => {
    expect((await backUp('original')).code).toBe(0);
    const url = pathToFileURL(pathOf('empty')).href;
    const made = await backUp('of-copy', { KITH_DATA: pathOf('original'), STORAGE_URL: url });
    expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('files: 2')]);
    const [original, again] = await Promise.all(
      ['original', 'of-copy'].map(async (name) =>
        JSON.parse(await readFile(join(pathOf(name), 'backup.json'), 'utf8')),
      ),
    );
    // The second backup must have the time of the first one. It was made from the first backup, so it still contains users whom
    // the platform has erased since the first backup.
    expect(again.begunAt).toBe(original.begunAt);
  });

  it('fails if the files are missing', async () => {
    const url = pathToFileURL(pathOf('empty')).href;
    const sealed = { KITH_BACKUP_PASSPHRASE: 'a passphrase of this suite' };
    for (const env of [{}, { STORAGE_URL: url }, sealed, { ...sealed, STORAGE_URL: url }]) {
      const refused = await backUp('without', env);
      expect([refused.code, refused.stderr]).toEqual([
        1,
        expect.stringContaining('set STORAGE_URL to the value'),
      ]);
    }
    expect((await readdir(root)).filter((name) => name.startsWith('without'))).toEqual([]);
    const anonymous = await runKith(['backup', pathOf('anonymous'), '--anonymise'], {
      KITH_DATA: pathOf('data'),
    });
    expect(anonymous.code).toBe(0);
  });

  it('succeeds with a warning if only some files are missing', async () => {
    const half = pathOf('half');
    await cp(pathOf('bucket'), half, { recursive: true });
    await rm(join(half, leaver.projectId, leaver.id), { recursive: true });
    const made = await backUp('some', { STORAGE_URL: pathToFileURL(half).href });
    const { id: userId, projectId } = leaver;
    const named = `${fileOfLeaver} of the user ${userId} in the project ${projectId}`;
    expect([made.code, made.stderr]).toEqual([
      0,
      expect.stringContaining(`warning: bytes of the file ${named} are missing\n`),
    ]);
    expect(made.stderr).toContain(`warning: files with missing bytes: 1; their bytes are not in ${half}; `);
  });

  it('succeeds with a warning if the place of the files contains only bytes that belong to no file', async () => {
    const place = pathOf('lost');
    const blobs = await openBlobs({ kind: 'folder', folder: place });
    const bytes = async function* () {
      yield Buffer.from('bytes without a record');
    };
    await blobs.put('project/user/file/original.bytes', bytes());
    await blobs.close();
    const made = await backUp('of-lost', { STORAGE_URL: pathToFileURL(place).href });
    expect([made.code, made.stderr]).toEqual([
      0,
      expect.stringContaining('warning: files with missing bytes: 2; '),
    ]);
  });

  it('names an image that lacks the bytes of only one size', async () => {
    expect((await backUp('with-image')).code).toBe(0);
    const env = { KITH_DATA: pathOf('with-image'), KITH_SECRET: movedSecret };
    await using platform = await startInFolder(pathOf('with-image'));
    const { fileId } = await createUploads(platform.url).uploadImage(other, { sizes: { small: 8 } });
    const folder = join(pathOf('with-image'), 'files');
    const key = (await keysIn(folder)).find((one) => one.endsWith('/small')) ?? '';
    await rm(join(folder, key));
    const made = await runKith(['backup', pathOf('of-image'), '--json'], env);
    const { projectId, id: userId } = other;
    expect([made.code, longResult(made)]).toMatchObject([0, { missing: [{ fileId, projectId, userId }] }]);
    expect(await keysIn(join(pathOf('of-image'), 'files'))).toEqual(await keysIn(folder));
  });

  it('fails if the place of the files disappears while the files are copied', async () => {
    const place = pathOf('going');
    await cp(pathOf('bucket'), place, { recursive: true });
    for (const key of await keysIn(place)) await truncate(join(place, key), 1);
    let stderr = '';
    const code = await runCommandLine(['backup', pathOf('of-going')], {
      env: {
        ...{ KITH_DATA: pathOf('data'), STORAGE_URL: pathToFileURL(place).href, KITH_SECRET: movedSecret },
        // A sealed backup reads the files one after the other.
        KITH_BACKUP_PASSPHRASE: 'a passphrase of this suite',
      },
      stdout: { write: () => undefined },
      stderr: {
        write(text) {
          stderr += text;
          if (text.includes('is damaged')) rmSync(place, { recursive: true });
        },
      },
    });
    expect([code, stderr]).toEqual([1, expect.stringContaining('set STORAGE_URL to the value')]);
    expect(existsSync(pathOf('of-going'))).toBe(false);
  });

  it('is made with the readable files, and names the files that the disk cannot read', async () => {
    const place = pathOf('bucket');
    const key = (await keysIn(place)).find((one) => one.includes(fileOfOther)) ?? '';
    const { ino } = await stat(join(place, key));
    const made = await withFailingReads(ino, () => backUp('of-bad-disk'));
    const named = `${fileOfOther} of the user ${other.id} in the project ${other.projectId}`;
    expect([made.code, made.stderr]).toEqual([0, expect.stringContaining(`the file ${named} is damaged`)]);
    expect(await keysIn(join(pathOf('of-bad-disk'), 'files'))).toEqual(await keysIn(place));
  });

  it.each([
    ['plain', {}],
    ['sealed', { KITH_BACKUP_PASSPHRASE: 'a passphrase of this suite' }],
  ])(
    'contains the readable bytes of a damaged file, and names the file and its owner: %s',
    async (kind, sealed) => {
      const place = pathOf(`${kind}-damaged-place`);
      await cp(pathOf('bucket'), place, { recursive: true });
      const key = (await keysIn(place)).find((one) => one.includes(fileOfOther)) ?? '';
      await truncate(join(place, key), 6);
      const env = { STORAGE_URL: pathToFileURL(place).href, KITH_SECRET: movedSecret, ...sealed };
      const made = await backUp(`${kind}-damaged`, env);
      const named = `${fileOfOther} of the user ${other.id} in the project ${other.projectId}`;
      expect([made.code, made.stderr]).toEqual([0, expect.stringContaining(`the file ${named} is damaged`)]);
      const restored = pathOf(`${kind}-damaged-restored`);
      const { code } = await runKith(['restore', pathOf(`${kind}-damaged`)], {
        ...{ KITH_DATA: restored, ...sealed },
      });
      const files = join(restored, 'files');
      expect([code, await keysIn(files)]).toEqual([0, await keysIn(pathOf('bucket'))]);
      expect(await readFile(join(files, key), 'utf8')).toBe('a file');
    },
  );

  it.each([
    ['plain', {}],
    ['sealed', { KITH_BACKUP_PASSPHRASE: 'a passphrase of this suite' }],
  ])('contains only bytes that belong to a file, and so does a restored folder: %s', async (kind, sealed) => {
    const place = pathOf(`${kind}-place`);
    const store = async (folder: string) => {
      await using undo = new AsyncDisposableStack();
      const blobs = undo.adopt(await openBlobs({ kind: 'folder', folder }), (one) => one.close());
      const bytes = async function* () {
        yield Buffer.from('bytes of a file that was stored later');
      };
      await blobs.put(`${other.projectId}/${other.id}/${randomUUID()}/original.bytes`, bytes());
    };
    const known = await keysIn(pathOf('bucket'));
    await cp(pathOf('bucket'), place, { recursive: true });
    await store(place);
    const env = { STORAGE_URL: pathToFileURL(place).href, KITH_SECRET: movedSecret, ...sealed };
    expect((await backUp(kind, env)).code).toBe(0);
    if (kind === 'plain') {
      const copied = join(pathOf(kind), 'files');
      expect(await keysIn(copied)).toEqual(known);
      await store(copied);
    }
    const restored = pathOf(`${kind}-restored`);
    const { code } = await runKith(['restore', pathOf(kind)], { KITH_DATA: restored, ...sealed });
    expect([code, await keysIn(join(restored, 'files'))]).toEqual([0, known]);
  });

  it.runIf(availableEngines().includes('containers'))(
    'a backup of databases fails if the files are missing',
    async () => {
      await using engines = await startEngines();
      const prefix = uniquePrefix();
      await using ending = new AsyncDisposableStack();
      ending.defer(() => eraseEngines(engines, prefix));
      const env = {
        ...{ MONGODB_URL: engines.mongodbUrl, NATS_URL: engines.natsUrl, KITH_PREFIX: prefix },
        KITH_SECRET: movedSecret,
      };
      expect((await backUp('whole')).code).toBe(0);
      const restored = await runKith(['restore', pathOf('whole')], { ...env, ...elsewhere() });
      expect([restored.code, restored.stderr]).toEqual([0, expect.stringContaining('the data is moved')]);
      const refused = await runKith(['backup', pathOf('of-databases')], env);
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('are not in GridFS; set')]);
      const made = await runKith(['backup', pathOf('of-databases')], { ...env, ...elsewhere() });
      expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('files: 2')]);
    },
  );
});

/** Makes all reads of one file fail, as a bad sector of a disk does. */
async function withFailingReads<T>(ino: number, act: () => Promise<T>): Promise<T> {
  // The handles of all files have the same prototype.
  await using handle = await open(import.meta.filename);
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  const { read } = prototype;
  using _reads = vi.spyOn(prototype, 'read').mockImplementation(async function (
    this: FileHandle,
    ...given: unknown[]
  ) {
    if (fstatSync(this.fd).ino === ino) throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
    return Reflect.apply(read, this, given);
  });
  return await act();
}
