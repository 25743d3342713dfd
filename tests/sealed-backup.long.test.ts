// Quick counterpart: libs/store/src/backup/sealed-bytes.test.ts
// Starts no platform and at most 2 processes.
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secrets } from '@kith/base';
import { caller } from '@kith/platform';
import {
  availableEngines,
  createPeople,
  createUploads,
  eraseEngines,
  startEngines,
  type TestUser,
  uniquePrefix,
} from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kith, runKith } from './support/command.ts';
import { operatorToken, startInFolder } from './support/moved-installation.ts';
import { startByKith } from './support/start-script.ts';
import { storedKeys } from './support/stored-keys.ts';

const passphrase = 'a passphrase of these suites';
const target = 'the secret of the databases that are restored to';
const bytes = 'the bytes of a file of hers';

describe('a sealed backup', () => {
  let root: string;
  let user: TestUser;
  const pathOf = (name: string) => join(root, name);
  const audience = { TOKEN_AUDIENCE: 'example.org' };
  const settings = { ...audience, KITH_SECRET: undefined };
  const withPassphrase = (env: NodeJS.ProcessEnv) => ({ ...env, KITH_BACKUP_PASSPHRASE: passphrase });
  /**
   * Asks a platform for the sessions of the user who signed up before the backup, with this user's token. Throws if the
   * platform refuses the token.
   */
  const isThere = async (url: string) => {
    const path = `/v7/${user.projectId}/auth/sessions`;
    return caller(url)('GET', path, { token: user.accessToken });
  };

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'kith-sealed-'));
    await mkdir(pathOf('work'));
    await using platform = await startInFolder(pathOf('data'), undefined, settings);
    const people = createPeople(caller(platform.url), operatorToken);
    user = await people.createUser((await people.createProject()).id, { name: 'Augusta Ada' });
    await createUploads(platform.url).uploadFile(user, bytes);
    await writeFile(pathOf('passphrase'), `${passphrase}\nA note on the second line.\n`);
    const words = ['backup', pathOf('sealed'), '--passphrase-file', pathOf('passphrase')];
    const env = { ...audience, KITH_DATA: pathOf('data'), KITH_BACKUP_WORK: pathOf('work') };
    const made = await runKith(words, env);
    expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('the backup is in')]);
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  it('contains neither readable data nor the secret of the platform', async () => {
    expect(await readdir(pathOf('sealed'))).toEqual(['backup.sealed']);
    const path = join(pathOf('sealed'), 'backup.sealed');
    expect((await stat(path)).mode & 0o077).toBe(0);
    const content = await readFile(path);
    for (const text of [user.email, 'Augusta', bytes, 'SQLite format']) {
      expect([text, content.includes(text)]).toEqual([text, false]);
    }
    // The unsealed data was only in the work folder, which is usually in memory. Nothing of it is left there.
    expect(await readdir(pathOf('work'))).toEqual([]);
  });

  it('restoring a sealed backup needs its passphrase, and nothing else', async () => {
    const restore = (name: string, env: NodeJS.ProcessEnv) =>
      runKith(['restore', pathOf('sealed')], { KITH_DATA: pathOf(name), ...env });
    const wrong = await restore('wrong', { KITH_BACKUP_PASSPHRASE: `${passphrase}!` });
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('The passphrase is wrong')]);
    const without = await restore('wrong', {});
    expect(without.stderr).toContain('is sealed; give its passphrase with KITH_BACKUP_PASSPHRASE');
    expect(await readdir(root)).not.toContain('wrong');

    const restored = await restore('restored', withPassphrase({}));
    expect([restored.code, restored.stderr]).toEqual([0, expect.stringContaining('copied')]);
    const secretOf = async (name: string) => (await readFile(join(pathOf(name), 'secret'), 'utf8')).trim();
    expect(await secretOf('restored')).not.toBe(await secretOf('data'));
    await using platform = await startInFolder(pathOf('restored'), undefined, settings);
    expect(await isThere(platform.url)).toMatchObject({ data: [expect.anything()] });
  });

  it('is not made if the first line of the passphrase file is empty, and no unsealed backup is made instead', async () => {
    await writeFile(pathOf('empty'), '\n');
    const ways = [
      { words: ['--passphrase-file', pathOf('empty')], env: {} },
      { words: [], env: { KITH_BACKUP_PASSPHRASE_FILE: pathOf('empty') } },
    ];
    for (const { words, env } of ways) {
      const refused = await runKith(['backup', pathOf('open'), ...words], {
        KITH_DATA: pathOf('data'),
        ...env,
      });
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('a passphrase is needed')]);
    }
    const unset = await runKith(['backup', pathOf('open'), '--passphrase-file', ''], {
      KITH_DATA: pathOf('data'),
    });
    expect([unset.code, unset.stderr]).toEqual([2, expect.stringContaining('--passphrase-file is empty.')]);
    expect(await readdir(root)).not.toContain('open');
  });

  it('an incomplete sealed backup is refused, and leaves no files', async () => {
    await cp(pathOf('sealed'), pathOf('cut'), { recursive: true });
    const path = join(pathOf('cut'), 'backup.sealed');
    await truncate(path, (await stat(path)).size - 10);
    const env = withPassphrase({ KITH_DATA: pathOf('nowhere') });
    const refused = await runKith(['restore', pathOf('cut')], env);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('damaged or incomplete')]);
    expect(await readdir(root)).not.toContain('nowhere');
  });

  it('a sealed backup can be started', async () => {
    await cp(pathOf('sealed'), pathOf('booted'), { recursive: true });
    // An empty variable counts as absent. So the platform uses the audience that is in the backup, and accepts the old tokens.
    const env = { KITH_DATA: pathOf('booted'), PORT: '0', INTERNAL_PORT: '0', TOKEN_AUDIENCE: '' };
    const refused = await kith(['start'], env);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('give its passphrase with')]);
    await using started = await startByKith({ cwd: root, env: withPassphrase(env), until: 'Kith is up' });
    const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(started.output()) ?? [];
    expect(await isThere(url)).toMatchObject({ data: [expect.anything()] });
    expect(await readdir(pathOf('booted'))).not.toContain('backup.sealed');
  });

  it.runIf(availableEngines().includes('containers'))(
    'a sealed backup can be restored into databases with another secret, and `kith backup` can make a sealed backup of these databases',
    async () => {
      await using engines = await startEngines();
      const prefix = uniquePrefix();
      await using ending = new AsyncDisposableStack();
      ending.defer(() => eraseEngines(engines, prefix));
      const to = { MONGODB_URL: engines.mongodbUrl, NATS_URL: engines.natsUrl, KITH_PREFIX: prefix };
      const words = ['restore', pathOf('sealed')];
      const without = await runKith(words, withPassphrase(to));
      expect(without.stderr).toContain(
        'Set KITH_SECRET to the secret of the platform that will use these databases',
      );
      const env = withPassphrase({ ...to, KITH_SECRET: target });
      const restored = await runKith(words, env);
      expect([restored.code, restored.stderr]).toEqual([0, expect.stringContaining('the data is moved')]);
      const [key] = await storedKeys({ engines, prefix, dataFolder: '' });
      expect(() => new Secrets(target).open('signing key', key!.sealed, key!.kid)).not.toThrow();

      const made = await runKith(['backup', pathOf('of-databases')], env);
      expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('the backup is in')]);
      expect(await readdir(pathOf('of-databases'))).toEqual(['backup.sealed']);
      const again = await runKith(
        ['restore', pathOf('of-databases')],
        withPassphrase({ KITH_DATA: pathOf('again') }),
      );
      expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('copied')]);
      await using platform = await startInFolder(pathOf('again'), prefix, settings);
      expect(await isThere(platform.url)).toMatchObject({ data: [expect.anything()] });
    },
    60_000,
  );
});
