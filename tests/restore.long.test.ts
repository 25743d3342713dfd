// Quick counterpart: tests/restored.test.ts
// Starts no platform and at most 4 processes.
import { existsSync } from 'node:fs';
import { cp, lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { type Call, caller, openDataFolder } from '@kith/platform';
import { moveData, Source, Target } from '@kith/platform/testing';
import { type BlobsConfig, openBlobs } from '@kith/store/blobs';
import {
  availableEngines,
  createPeople,
  createUploads,
  type Engines,
  eraseEngines,
  startEngines,
  type TestUser,
  uniquePrefix,
  waitFor,
} from '@kith/testing';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runKith, startKith } from './support/command.ts';
import { makeEndless } from './support/endless-file.ts';
import { movedSecret, operatorToken, startInFolder } from './support/moved-installation.ts';
import { oneTimeSecret } from './support/one-time-secret.ts';
import { addUnreadDeletion } from './support/unread-event.ts';

const hasDatabases = availableEngines().includes('containers');

describe('kith restore', () => {
  let root: string;
  let leaver: TestUser;
  let other: TestUser;
  const pathOf = (name: string) => join(root, name);
  const list = () => join(pathOf('data'), 'erasures.jsonl');

  const prefix = uniquePrefix();
  let engines: Engines;
  let client: MongoClient;
  // `KITH_PREFIX` begins with `prefix`, so `eraseEngines` erases these databases, too.
  const envOf = (name: string) => ({
    MONGODB_URL: engines.mongodbUrl,
    KITH_PREFIX: `${prefix}_${name}`,
    KITH_SECRET: movedSecret,
  });
  const collectionOf = (name: string, service: string, collection: string) =>
    client.db(`${prefix}_${name}_${service}`).collection<{ d?: string }>(collection);
  const namesIn = async (name: string) => {
    const users = await collectionOf(name, 'identity', 'users').find().toArray();
    return users.map(({ d }) => JSON.parse(d ?? '{}').name).sort();
  };

  /** Copies the backup, because an interrupted restore into databases leaves a folder beside its backup. */
  const copyOfBackup = async (name: string) => {
    await cp(pathOf('backup'), pathOf(name), { recursive: true });
    return pathOf(name);
  };
  /** The ids of the users whose files are in `place`. */
  const ownersIn = async (place: BlobsConfig) => {
    const blobs = await openBlobs(place);
    const owners = new Set<string | undefined>();
    for await (const { key } of blobs.list()) owners.add(key.split('/')[1]);
    await blobs.close();
    return [...owners];
  };
  const folderOf = (data: string): BlobsConfig => ({ kind: 'folder', folder: join(data, 'files') });
  const bucketOf = (name: string): BlobsConfig => {
    return { kind: 'gridfs', url: engines.mongodbUrl, database: `${prefix}_${name}_storage` };
  };

  const namesInFolder = (data: string) => {
    using db = new DatabaseSync(join(data, 'identity.sqlite'));
    const users = db.prepare('SELECT doc FROM users').all();
    return users.map(({ doc }) => JSON.parse(String(doc)).name).sort();
  };
  /** Makes a backup look as if it was made two hours later. */
  const postdate = async (backup: string) => {
    const file = join(backup, 'backup.json');
    const manifest = JSON.parse(await readFile(file, 'utf8'));
    const begunAt = new Date(Date.parse(manifest.begunAt) + 2 * 3600 * 1000).toISOString();
    await writeFile(file, JSON.stringify({ ...manifest, begunAt }));
  };
  /**
   * Tries to delete a user and the user's project, but the database refuses both deletions. No later restore may delete the
   * user or the project.
   */
  const failToDelete = async (call: Call, { id, projectId, accessToken }: TestUser) => {
    using db = new DatabaseSync(join(pathOf('data'), 'identity.sqlite'), { timeout: 5_000 });
    for (const table of ['users', 'projects'])
      db.exec(
        `CREATE TRIGGER keep_${table} BEFORE DELETE ON ${table} BEGIN SELECT RAISE(ABORT, 'kept'); END`,
      );
    const failed = { code: expect.stringMatching('/server-error$') };
    const leaving = call('DELETE', `/v7/${projectId}/users/${id}`, { token: accessToken });
    await expect(leaving).rejects.toMatchObject(failed);
    const deletion = call('DELETE', `/admin/projects/${projectId}`, { token: operatorToken });
    await expect(deletion).rejects.toMatchObject(failed);
    for (const table of ['users', 'projects']) db.exec(`DROP TRIGGER keep_${table}`);
  };
  /**
   * Runs a restore that copies the users' files and then fails. For this, a temporary unique index covers a field that no user
   * has. So the second user counts as a duplicate of the first user.
   */
  const stopsOnce = async (words: string[], name: string) => {
    const users = collectionOf(name, 'identity', 'users');
    const index = await users.createIndex({ none: 1 }, { unique: true });
    const stopped = await runKith(words, envOf(name));
    expect([stopped.code, stopped.stderr]).toEqual([1, expect.stringMatching(/duplicate key/i)]);
    await users.dropIndex(index);
  };

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'kith-restore-'));
    if (hasDatabases) {
      engines = await startEngines();
      client = await MongoClient.connect(engines.mongodbUrl);
    }
    await using platform = await startInFolder(pathOf('data'));
    const call = caller(platform.url);
    const people = createPeople(call, operatorToken);
    const { id: projectId } = await people.createProject();
    leaver = await people.createUser(projectId, { name: 'Leaver' });
    other = await people.createUser(projectId, { name: 'Other' });
    const uploads = createUploads(platform.url);
    for (const user of [leaver, other]) await uploads.uploadFile(user, `bytes of ${user.id}`);
    const made = await runKith(['backup', pathOf('backup')], { KITH_DATA: pathOf('data') });
    expect(made.code).toBe(0);
    await failToDelete(call, other);
    // This user leaves after the backup.
    await call('DELETE', `/v7/${projectId}/users/${leaver.id}`, { token: leaver.accessToken });
    expect(await readFile(list(), 'utf8')).toContain(leaver.id);
  });
  afterAll(async () => {
    if (hasDatabases) {
      await client.close();
      await eraseEngines(engines, prefix);
      await engines[Symbol.asyncDispose]();
    }
    await rm(root, { recursive: true, force: true });
  });

  it('removes the bytes of erased users', async () => {
    const data = pathOf('erased');
    const restored = await runKith(['restore', pathOf('backup'), '--erased', list()], {
      KITH_DATA: data,
      KITH_SECRET: movedSecret,
    });
    expect(restored.code).toBe(0);
    expect(await ownersIn(folderOf(data))).toEqual([other.id]);
    // While the services erased the user, they made no second folder for files.
    expect(await readdir(data)).not.toContain('storage.sqlite.files');
  });

  it('keeps the list of erasures, and users who were erased and came back before the backup', async () => {
    const [backup, data] = [await copyOfBackup('later'), pathOf('later-restored')];
    // The backup now looks as if the user was erased before the backup, and then imported again.
    await postdate(backup);
    const env = { KITH_DATA: data, KITH_SECRET: movedSecret };
    const restored = await runKith(['restore', backup, '--erased', list()], env);
    expect([restored.code, restored.stderr]).toEqual([0, expect.not.stringContaining('erasures')]);
    expect(namesInFolder(data)).toEqual(['Leaver', 'Other']);
    // With the list of erasures in the new folder, a restore of the older backup still removes the erased user.
    const kept = join(data, 'erasures.jsonl');
    const older = { KITH_DATA: pathOf('older-restored'), KITH_SECRET: movedSecret };
    expect((await runKith(['restore', pathOf('backup'), '--erased', kept], older)).code).toBe(0);
    expect(namesInFolder(older.KITH_DATA)).toEqual(['Other']);
  });

  it.each(hasDatabases ? ['folder', 'databases'] : ['folder'])(
    'erases users whom an earlier restore without a list had brought back (%s)',
    async (form) => {
      const name = `unlisted_${form}`;
      const env =
        form === 'folder'
          ? { KITH_DATA: pathOf(name), KITH_SECRET: movedSecret }
          : { ...envOf(name), NATS_URL: engines.natsUrl };
      expect((await runKith(['restore', pathOf('backup')], env)).code).toBe(0);
      const backup = pathOf(`${name}-backup`);
      expect((await runKith(['backup', backup], env)).code).toBe(0);
      await postdate(backup);
      const data = pathOf(`${name}-restored`);
      const again = { KITH_DATA: data, KITH_SECRET: movedSecret };
      expect((await runKith(['restore', backup, '--erased', list()], again)).code).toBe(0);
      expect(namesInFolder(data)).toEqual(['Other']);
    },
    60_000,
  );

  it.each(hasDatabases ? ['folder', 'databases'] : ['folder'])(
    'restores a backup of an earlier version, which lacks a collection (%s)',
    async (form) => {
      const name = `earlier_${form}`;
      const backup = await copyOfBackup(`${name}_backup`);
      {
        using db = new DatabaseSync(join(backup, 'collections.sqlite'));
        db.exec(`DROP TABLE "endedCollections"; DELETE FROM layout WHERE name = 'endedCollections'`);
      }
      // A backup of the distributed form has no log of events.
      await rm(join(backup, 'events.sqlite'));
      const env =
        form === 'folder' ? { KITH_DATA: pathOf(name), KITH_SECRET: movedSecret } : { ...envOf(name) };
      const restored = await runKith(['restore', backup], env);
      expect([restored.code, restored.stderr]).toEqual([0, expect.stringContaining('copied')]);
    },
    60_000,
  );

  it('erases users whom a restore by an earlier version had brought back', async () => {
    const env = { KITH_DATA: pathOf('untold'), KITH_SECRET: movedSecret };
    expect((await runKith(['restore', pathOf('backup')], env)).code).toBe(0);
    const backup = pathOf('untold-backup');
    expect((await runKith(['backup', backup], env)).code).toBe(0);
    await postdate(backup);
    {
      // Now the database records only what an earlier version recorded about a restore.
      using db = new DatabaseSync(join(backup, 'identity.sqlite'));
      const told = JSON.stringify({ number: 1, restoredAt: Date.now() });
      db.prepare("UPDATE facts SET value = ? WHERE name = 'epoch'").run(told);
    }
    const again = { ...env, KITH_DATA: pathOf('untold-restored') };
    expect((await runKith(['restore', backup, '--erased', list()], again)).code).toBe(0);
    expect(namesInFolder(again.KITH_DATA)).toEqual(['Other']);
  });

  it('events that no service has received before the backup are applied after the restore, even under another prefix', async () => {
    const backup = await copyOfBackup('unread');
    await addUnreadDeletion(backup, other);
    for (const [name, listed, owners] of [
      ['prefix', ['--erased', list()], []],
      ['prefix-unlisted', [], [leaver.id]],
    ] as const) {
      const restored = await runKith(['restore', backup, ...listed], {
        ...{ KITH_DATA: pathOf(name), KITH_PREFIX: 'another' },
        ...(await oneTimeSecret(pathOf(`print-secret-${name}`))),
      });
      expect(restored.code).toBe(0);
      await using platform = await startInFolder(pathOf(name), 'another');
      await waitFor(async () => isDeepStrictEqual(await ownersIn(folderOf(pathOf(name))), owners), {
        what: `the files of ${platform.url}`,
      });
    }
  });

  it.runIf(hasDatabases)(
    'applies events in a backup of the distributed form, if a platform that ran on this backup has not applied them',
    async () => {
      const backup = await copyOfBackup('started');
      const file = join(backup, 'backup.json');
      const manifest = JSON.parse(await readFile(file, 'utf8'));
      await writeFile(file, JSON.stringify({ ...manifest, form: 'distributed' }));
      await addUnreadDeletion(backup, other);
      const restored = await runKith(['restore', backup], envOf('started'));
      expect([restored.code, restored.stderr]).toEqual([0, expect.stringContaining('pending work')]);
      expect(await collectionOf('started', 'notifications', 'endedUsers').countDocuments()).toBe(1);
    },
  );

  it('warns if the secret that sealed the data is missing', async () => {
    const restore = (name: string, env: NodeJS.ProcessEnv) =>
      runKith(['restore', pathOf('backup')], { KITH_DATA: pathOf(name), ...env });
    const missing = 'warning: KITH_SECRET: the data';
    const without = await restore('without-secret', {});
    expect([without.code, without.stderr]).toEqual([0, expect.stringContaining(missing)]);
    const withIt = await restore('with-secret', { KITH_SECRET: movedSecret });
    expect([withIt.code, withIt.stderr]).toEqual([0, expect.not.stringContaining(missing)]);
  });

  it('does not wait for a consumer that is named by --without', async () => {
    const backup = await copyOfBackup('retired');
    {
      using log = new DatabaseSync(join(backup, 'events.sqlite'));
      log.prepare('INSERT INTO consumers (durable, position) VALUES (?, 0)').run('statistics-retired');
    }
    const restore = (...words: string[]) =>
      runKith(['restore', backup, '--erased', list(), ...words], {
        ...{ KITH_DATA: pathOf('without'), KITH_SECRET: movedSecret },
      });
    const refused = await restore();
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('Use --without statistics-retired to skip it.'),
    ]);
    expect((await restore('--without', 'statistics-retired')).code).toBe(0);
    expect(namesInFolder(pathOf('without'))).toEqual(['Other']);
  });

  it.each(['files', 'bytes', 'files/bytes'])(
    'keeps the files in the folder if STORAGE_URL is the subfolder %s of the data folder',
    async (below) => {
      const data = pathOf(`with-${below.replace('/', '-')}`);
      await mkdir(data);
      await symlink(data, `${data}-link`);
      const place = pathToFileURL(join(`${data}-link`, below)).href;
      const env = { KITH_DATA: `${data}-link`, KITH_SECRET: movedSecret, STORAGE_URL: place };
      const restored = await runKith(['restore', pathOf('backup')], env);
      expect([restored.code, restored.stderr]).toEqual([0, expect.not.stringContaining('ENOTEMPTY')]);
      const owners = await ownersIn({ kind: 'folder', folder: join(data, below) });
      expect(owners.sort()).toEqual([leaver.id, other.id].sort());
      expect(await readdir(data)).not.toContain('files.restored');
    },
  );

  it('copies files to STORAGE_URL before it creates the data folder', async () => {
    const bucket = pathOf('bucket');
    const words = ['restore', pathOf('backup')];
    const envTo = (name: string, place: string) => ({
      ...{ KITH_DATA: pathOf(name), KITH_SECRET: movedSecret, STORAGE_URL: pathToFileURL(place).href },
    });
    const away = await runKith(words, envTo('stored', join(pathOf('backup'), 'backup.json', 'files')));
    expect([away.code, away.stderr]).toEqual([1, expect.stringContaining('for files cannot be used')]);
    expect(await readdir(root)).not.toContain('stored');
    const restored = await runKith(words, envTo('stored', bucket));
    expect(restored.code).toBe(0);
    const place: BlobsConfig = { kind: 'folder', folder: bucket };
    expect((await ownersIn(place)).sort()).toEqual([leaver.id, other.id].sort());
    expect(await readdir(pathOf('stored'))).not.toContain('files');
    // The previous restore has copied files of a user. This restore has to remove them, because the user is on the list of
    // erasures.
    const again = await runKith([...words, '--erased', list()], envTo('again', bucket));
    expect(again.code).toBe(0);
    expect(await ownersIn(place)).toEqual([other.id]);
  });

  it('restores all changes that a platform has made in the backup, even if the platform was killed', async () => {
    const copy = await copyOfBackup('tried');
    await using platform = await startInFolder(copy);
    const people = createPeople(caller(platform.url), operatorToken);
    await people.createUser(other.projectId, { name: 'Late' });
    // A process that is killed at this moment leaves the same files as this copy has.
    await cp(copy, pathOf('killed'), { recursive: true });
    for (const name of ['tried', 'killed']) {
      const data = pathOf(`${name}-restored`);
      const restored = await runKith(['restore', pathOf(name)], { KITH_DATA: data });
      expect(restored.code).toBe(0);
      expect(namesInFolder(data)).toEqual(['Late', 'Leaver', 'Other']);
    }
  });

  it('writes nothing into the folder of the backup, which may be read-only', async () => {
    const copy = await copyOfBackup('untouched');
    // If a file is added to a folder, even for a moment, the folder's time of change is different afterwards.
    const folders = [copy, join(copy, 'files')];
    const changed = () =>
      Promise.all(folders.map(async (one) => (await stat(one, { bigint: true })).ctimeNs));
    await rm(join(copy, 'files', '.unfinished'), { recursive: true, force: true });
    const before = await changed();
    const restored = await runKith(['restore', copy], { KITH_DATA: pathOf('from-untouched') });
    expect(restored.code).toBe(0);
    expect(await changed()).toEqual(before);
    expect(namesInFolder(pathOf('from-untouched'))).toEqual(['Leaver', 'Other']);
  });

  it('refuses a backup with a damaged database', async () => {
    const copy = await copyOfBackup('damaged');
    const file = join(copy, 'connections.sqlite');
    const content = await readFile(file);
    await writeFile(file, content.fill(0xff, 3 * 4096));
    const refused = await runKith(['restore', copy], { KITH_DATA: pathOf('undamaged') });
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining(`databases in ${copy} are damaged`),
    ]);
    expect(await readdir(root)).not.toContain('undamaged');
  });

  it.each(['missing', 'empty'])('refuses a backup in which a database is %s', async (what) => {
    const copy = await copyOfBackup(what);
    const file = join(copy, 'connections.sqlite');
    await rm(file);
    if (what === 'empty') await writeFile(file, '');
    const refused = await runKith(['restore', copy], { KITH_DATA: pathOf(`${what}-restored`) });
    const sentence = `The database connections.sqlite of the backup ${copy} is missing or empty.`;
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(sentence)]);
    expect(await readdir(root)).not.toContain(`${what}-restored`);
  });

  it('fills the folder to which the symbolic link in KITH_DATA leads', async () => {
    await mkdir(pathOf('disk'));
    await symlink(pathOf('disk'), pathOf('link'));
    const restored = await runKith(['restore', pathOf('backup')], { KITH_DATA: pathOf('link') });
    expect(restored.code).toBe(0);
    expect(namesInFolder(pathOf('disk'))).toEqual(['Leaver', 'Other']);
    expect((await lstat(pathOf('link'))).isSymbolicLink()).toBe(true);
  });

  it('reports that it cannot create a folder beside the data folder', async () => {
    const data = join(pathOf('backup'), 'backup.json', 'data');
    const refused = await runKith(['restore', pathOf('backup')], { KITH_DATA: data });
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining(`${data}.partial cannot be created (EEXIST); set KITH_DATA to another folder`),
    ]);
  });

  it.each(hasDatabases ? ['folder', 'databases'] : ['folder'])(
    'is refused while another restore fills the same place (%s)',
    async (form) => {
      const from = await copyOfBackup(`twice-${form}`);
      const env =
        form === 'folder' ? { KITH_DATA: pathOf('twice'), KITH_SECRET: movedSecret } : envOf('twice');
      const partial = form === 'folder' ? pathOf('twice.partial') : `${from}.restoring.partial`;
      const pipe = await makeEndless(join(from, 'files'));
      const first = startKith(['restore', from], env);
      const filled = async () =>
        existsSync(partial) &&
        (await readdir(partial, { recursive: true })).join().includes('identity.sqlite');
      try {
        await waitFor(filled, { what: 'the copies of the databases', timeoutMs: 30_000 });
        const second = await runKith(['restore', from], env);
        const holder = `Another kith (process ${first.pid} on ${hostname()})`;
        expect([second.code, second.stderr]).toEqual([
          1,
          expect.stringContaining(`${holder} uses the folder ${partial}; stop it, or choose another folder.`),
        ]);
        expect(await filled()).toBe(true);
      } finally {
        first.kill();
        await first.ended;
      }
      await rm(pipe);
      // After the process has died, another restore to the same place works.
      expect((await runKith(['restore', from], env)).code).toBe(0);
    },
    60_000,
  );

  it.runIf(hasDatabases)('copies no files if it refuses the databases', async () => {
    const theirs = collectionOf('theirs', 'storage', 'files');
    await theirs.insertOne({ d: '{}' });
    const refused = await runKith(['restore', await copyOfBackup('refused')], envOf('theirs'));
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('holds other data')]);
    expect(await ownersIn(bucketOf('theirs'))).toEqual([]);
    const moved = await runKith(['move', '--from', pathOf('data')], envOf('theirs'));
    expect([moved.code, moved.stderr]).toEqual([1, expect.stringContaining('holds other data')]);
    expect(await ownersIn(bucketOf('theirs'))).toEqual([]);
  });

  it.runIf(hasDatabases)(
    'a resumed restore into databases uses the list of erasures of its last run',
    async () => {
      const words = ['restore', await copyOfBackup('resumed')];
      await stopsOnce(words, 'list');
      expect((await ownersIn(bucketOf('list'))).sort()).toEqual([leaver.id, other.id].sort());
      const resumed = await runKith([...words, '--erased', list()], envOf('list'));
      expect([resumed.code, resumed.stderr]).toEqual([0, expect.stringContaining('the data is moved')]);
      expect(await namesIn('list')).toEqual(['Other']);
      expect(await ownersIn(bucketOf('list'))).toEqual([other.id]);
      expect(await readdir(root)).not.toContainEqual(expect.stringContaining('resumed.restoring'));
    },
    60_000,
  );

  it.runIf(hasDatabases).each([
    ['events.sqlite: marked as moved', 'first'],
    ['identity.sqlite: marked as moved', 'second'],
    ['the data is moved', 'last'],
  ])(
    'if a restore into databases dies after “%s”, the next run completes it',
    async (step, name) => {
      const words = ['restore', await copyOfBackup(name)];
      await stopsOnce(words, name);
      {
        const folder = openDataFolder(`${pathOf(name)}.restoring`);
        const to = { url: engines.mongodbUrl, prefix: `${prefix}_${name}` };
        await using target = await Target.open(to);
        const parts = { folder, source: new Source(folder), target, prefix: to.prefix };
        const dead = moveData(parts, (line) => {
          if (line === step) throw new Error('killed');
        });
        await expect(dead.finally(() => folder.release())).rejects.toThrow('killed');
      }
      const completed = await runKith(words, envOf(name));
      expect([completed.code, completed.stdout]).toEqual([0, expect.stringMatching(/identity\s+users\s+2/)]);
      expect(await readdir(root)).not.toContain(`${name}.restoring`);
      expect(await namesIn(name)).toEqual(['Leaver', 'Other']);
    },
    60_000,
  );
});
