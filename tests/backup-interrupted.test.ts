// Starts no platform and at most 16 processes.
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { caller } from '@kith/platform';
import { createPeople, createUploads, waitFor } from '@kith/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Running, runKith, startKith } from './support/command.ts';
import { makeEndless } from './support/endless-file.ts';
import { makeSmall, movedSecret, operatorToken, startInFolder } from './support/moved-installation.ts';

describe('a backup that is interrupted', () => {
  let root: string;
  const pathOf = (...names: string[]) => join(root, ...names);
  const envOf = (data: string) => ({
    ...{ KITH_DATA: pathOf(data), KITH_SECRET: movedSecret },
    // The relative path starts at the folder where the command was typed.
    ...{ KITH_BACKUP_WORK: 'work', KITH_CWD: root },
    KITH_BACKUP_PASSPHRASE: 'a passphrase of this suite',
  });
  const left = async () => [await readdir(pathOf('work')), (await readdir(pathOf('backups'))).toSorted()];

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'kith-interrupted-'));
    for (const name of ['work', 'backups']) await mkdir(pathOf(name));
    {
      await using platform = await startInFolder(pathOf('data'));
      const people = createPeople(caller(platform.url), operatorToken);
      const user = await people.createUser((await people.createProject()).id);
      await createUploads(platform.url).uploadFile(user, 'bytes');
    }
    await makeEndless(pathOf('data', 'files'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  /**
   * Starts a backup that does not end until it is interrupted, and waits until the unsealed copies of the databases are
   * complete.
   */
  const begin = async (name: string): Promise<{ running: Running; work: string }> => {
    const before = await readdir(pathOf('work'));
    const running = startKith(['backup', pathOf('backups', name)], envOf('data'));
    const work = await waitFor(
      async () => {
        const [own] = (await readdir(pathOf('work'))).filter((one) => !before.includes(one));
        const paths = own ? [pathOf('work', own, 'backup.json'), pathOf('backups', `${name}.partial`)] : [];
        return paths.length > 0 && paths.every((path) => existsSync(path)) && own;
      },
      { what: 'the copies of the databases', timeoutMs: 30_000 },
    );
    return { running, work };
  };

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'a backup that is interrupted by %s leaves no files',
    async (signal) => {
      const { running } = await begin('one');
      running.kill(signal);
      expect((await running.ended).code).toBeNull();
      expect(await left()).toEqual([[], []]);
    },
    60_000,
  );

  it('a backup whose output nobody reads any more leaves no files', async () => {
    const running = startKith(['backup', pathOf('backups', 'one')], envOf('data'));
    running.stopReading('stderr');
    expect(await running.ended).toEqual({ code: 141, stdout: '', stderr: '' });
    expect(await left()).toEqual([[], []]);
  }, 60_000);

  it('a backup that is ended by SIGKILL leaves folders, which the next backup to the same folder removes', async () => {
    const killed = await begin('killed');
    killed.running.kill();
    await killed.running.ended;
    expect(await left()).toEqual([[killed.work], ['killed.partial']]);
    const { running, work } = await begin('under-way');
    try {
      await mkdir(pathOf('backups', 'foreign.partial'));
      await makeSmall(pathOf('other'));
      const made = await runKith(['backup', pathOf('backups', 'next')], envOf('other'));
      expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('the backup is in')]);
      expect(await left()).toEqual([[work], ['foreign.partial', 'next', 'under-way.partial']]);
      expect(await readdir(pathOf('backups', 'next'))).toEqual(['backup.sealed']);
    } finally {
      running.kill();
      await running.ended;
    }
  }, 60_000);

  it.each(['sealed', 'open'])(
    'a second backup to the same folder is refused while the first is running (%s)',
    async (how) => {
      await makeSmall(pathOf('other'));
      const env = { ...envOf('other'), ...(how === 'open' && { KITH_BACKUP_PASSPHRASE: undefined }) };
      const again = () => runKith(['backup', pathOf('backups', 'one')], env);
      const { running, work } = await begin('one');
      try {
        const first = `Another kith (process ${running.pid} on ${hostname()})`;
        const { code, stderr } = await again();
        expect([code, stderr]).toEqual([
          1,
          `kith: ${first} uses the folder ${pathOf('backups', 'one.partial')}; stop it, or choose another folder.\n`,
        ]);
        expect(await left()).toEqual([[work], ['one.partial']]);
        expect(await readdir(pathOf('backups', 'one.partial'))).toContain('new');
      } finally {
        running.kill();
        await running.ended;
      }
      // After the first process has ended, another backup may be made to the folder.
      expect((await again()).code).toBe(0);
    },
    60_000,
  );

  it('a complete backup contains neither a lock nor a mark that it is unfinished', async () => {
    await makeSmall(pathOf('other'));
    const open = { ...envOf('other'), KITH_BACKUP_PASSPHRASE: undefined };
    expect((await runKith(['backup', pathOf('backups', 'open')], open)).code).toBe(0);
    const names = await readdir(pathOf('backups', 'open'));
    expect(names.filter((name) => name === 'lock' || name === 'unfinished')).toEqual([]);
    const listeners = ['SIGINT', 'SIGTERM', 'SIGHUP', 'exit'].map((event) => process.listenerCount(event));
    expect((await runKith(['backup', pathOf('backups', 'again')], open)).code).toBe(0);
    expect(['SIGINT', 'SIGTERM', 'SIGHUP', 'exit'].map((event) => process.listenerCount(event))).toEqual(
      listeners,
    );
  });
});
