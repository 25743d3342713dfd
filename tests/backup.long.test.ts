// Quick counterpart: tests/backup-files.test.ts
// Starts no platform and at most 20 processes.
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Project } from '@kith/contracts';
import { type Call, CallError, caller, type Platform, startDistributed } from '@kith/platform';
import {
  availableEngines,
  compileCache,
  createPeople,
  type Engines,
  eraseEngines,
  startEngines,
  type TestUser,
  uniquePrefix,
  waitFor,
} from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kith, longResult, runKith } from './support/command.ts';
import {
  goesOn,
  makeBusy,
  movedSecret,
  movedSettings,
  operatorToken,
  readAll,
  startInFolder,
  type World,
} from './support/moved-installation.ts';
import { type Newcomer, Writers } from './support/writers.ts';

const forms = (['embedded', 'distributed'] as const).filter(
  (form) => form === 'embedded' || availableEngines().includes('containers'),
);

describe.each(forms)('a backup of the %s form', (form) => {
  const prefix = uniquePrefix();
  let root: string;
  let engines: Engines | undefined;
  const pathOf = (name: string) => join(root, name);

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'kith-backup-'));
    if (form === 'distributed') engines = await startEngines();
  });
  afterAll(async () => {
    if (engines) {
      await eraseEngines(engines, prefix);
      await engines[Symbol.asyncDispose]();
    }
    await rm(root, { recursive: true, force: true });
  });

  /** The environment variables that tell a command where a platform stores its data, or where to restore a backup. */
  const envOf = (name: string): NodeJS.ProcessEnv =>
    engines
      ? {
          MONGODB_URL: engines.mongodbUrl,
          NATS_URL: engines.natsUrl,
          KITH_PREFIX: `${prefix}_${name}`,
          KITH_DATA: pathOf('none'),
          KITH_SECRET: movedSecret,
        }
      : { KITH_DATA: pathOf(name), KITH_SECRET: movedSecret };
  const start = async (name: string): Promise<Platform> => {
    const erasures = { ERASURES_FILE: pathOf('erasures.jsonl') };
    if (!engines) return startInFolder(pathOf(name), undefined, erasures);
    return startDistributed({
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: compileCache(),
        ...movedSettings('', `${prefix}_${name}`),
        ...{ MONGODB_URL: engines.mongodbUrl, NATS_URL: engines.natsUrl, REDIS_URL: engines.redisUrl },
        ...erasures,
      },
      logFolder: pathOf(`${name}-logs`),
    });
  };

  it('a backup that is made during writes can be started, and a restore leaves out users who were erased after the backup', async () => {
    const backup = pathOf('backup');
    let world: World;
    let before: unknown;
    let kept: Newcomer[];
    let writers: Writers;
    let doomed: TestUser;
    let leaver: Newcomer;
    let later: Newcomer;
    let exchanged: string;
    const exchange = (call: Call, { projectId }: Newcomer, refreshToken: string) =>
      call<{ refreshToken: string }>('POST', `/v7/${projectId}/auth/request-new-access-token`, {
        body: { refreshToken },
      });
    {
      await using platform = await start('first');
      const call = caller(platform.url);
      world = await makeBusy(call);
      const people = createPeople(call, operatorToken);
      doomed = await people.createUser((await people.createProject('Doomed')).id);
      before = await readAll(call, world);
      {
        writers = await Writers.start(call);
        await using _ = writers;
        await waitFor(() => writers.acknowledged.length >= 20, { what: 'changes', timeoutMs: 30_000 });
        kept = [...writers.acknowledged];
        const made = await kith(['backup', backup, '--json'], envOf('first'));
        expect([made.code, made.stderr]).toEqual([0, '']);
        type Made = { folder: string; counts: { collection: string; documents: number }[] };
        const { folder, counts, progress } = longResult<Made>(made);
        expect([folder, progress]).toEqual([backup, expect.stringContaining(`the backup is in ${backup}`)]);
        expect(counts.find(({ collection }) => collection === 'users')?.documents).toBeGreaterThan(
          kept.length,
        );
        const during = writers.acknowledged.length;
        await waitFor(() => writers.acknowledged.length > during, { what: 'changes after the backup' });
      }

      // After the backup, one user leaves, a project is deleted, and another user exchanges a refresh token.
      [leaver, , later] = kept as [Newcomer, Newcomer, Newcomer];
      await call('DELETE', `/v7/${leaver.projectId}/users/${leaver.id}`, { token: leaver.accessToken });
      await call('DELETE', `/admin/projects/${doomed.projectId}`, { token: operatorToken });
      exchanged = (await exchange(call, later, later.refreshToken)).refreshToken;
    }
    expect((await readdir(root)).filter((name) => name.includes('partial'))).toEqual([]);
    for (const name of await readdir(backup)) {
      expect([name, (await stat(join(backup, name))).mode & 0o077]).toEqual([name, 0]);
    }

    const restored = await kith(['restore', backup, '--erased', pathOf('erasures.jsonl')], envOf('second'));
    // There are three erasures: the user, the project and the project's user. If an erasure was tried twice, the list contains
    // it twice.
    expect([restored.code, restored.stderr]).toEqual([0, expect.stringMatching(/[3-9] erasures/)]);
    {
      await using platform = await start('second');
      const call = caller(platform.url);
      expect(await readAll(call, world)).toEqual(before);
      const others = kept.filter((one) => one !== leaver);
      await writers.expectKept(call, others);
      // The restored platform does not know this token, but it knows the token's family. The token does not count as stolen,
      // because it is newer than the backup.
      await expect(exchange(call, later, exchanged)).rejects.toMatchObject({
        status: 401,
        code: 'auth/unauthorized',
      });
      const gone = call('GET', `/v7/${leaver.projectId}/users/${leaver.id}`, {
        token: others[0]!.accessToken,
      });
      await expect(gone).rejects.toThrow(CallError);
      const { projectId, email, password } = doomed;
      const signIn = call('POST', `/v7/${projectId}/auth/sign-in`, { body: { email, password } });
      await expect(signIn).rejects.toMatchObject({ code: 'project/not-found' });
      const left = await call<Project>('GET', `/admin/projects/${projectId}`, { token: operatorToken });
      expect(left.deletion).toEqual({ since: expect.any(String), usersLeft: expect.any(Number) });
      await goesOn(call, world);
    }

    const manifest = JSON.parse(await readFile(join(backup, 'backup.json'), 'utf8'));
    expect(manifest).toMatchObject({ format: 1, form, isAnonymised: false });
    {
      await using platform = await startInFolder(backup, manifest.settings.KITH_PREFIX);
      const call = caller(platform.url);
      expect(await readAll(call, world)).toEqual(before);
      await writers.expectKept(call, kept);
      await goesOn(call, world);
    }
    const adopted = await runKith(['adopt', '--from', backup], {});
    expect([adopted.code, adopted.stderr]).toEqual([0, '']);
    const again = await runKith(['adopt', '--from', backup], {});
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('was adopted already')]);
  }, 180_000);
});
