// Quick counterpart: tests/guides.test.ts
// Starts no platform and at most 20 processes.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Secrets } from '@kith/base';
import { type Call, caller, type ProcessName, startDistributed } from '@kith/platform';
import {
  availableEngines,
  compileCache,
  createPeople,
  createUploads,
  eraseEngines,
  startEngines,
  type TestUser,
  uniquePrefix,
} from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runKith, type Said } from './support/command.ts';
import { readBlocks } from './support/guide.ts';
import { kithWordsIn } from './support/kith-words.ts';
import { movedSettings, operatorToken, startInFolder } from './support/moved-installation.ts';
import { storedKeys } from './support/stored-keys.ts';

const run = promisify(execFile);
const [old, recent] = ['the secret that was there before it', 'the new secret of about as many letters'];
const everything = [0, expect.stringMatching(/^identity +2 +2 +0$/m)];

describe('the guide of the secret', async () => {
  const blocks = await readBlocks('secrets.md');
  const texts = blocks.filter(({ language }) => language === 'bash').map(({ text }) => text);
  const holding = (part: string) => texts.find((text) => text.includes(part)) ?? '';
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kith-secrets-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const rotate = (text: string, env: NodeJS.ProcessEnv): Promise<Said> => {
    const words = kithWordsIn({ text }).find((one) => one[0] === 'secrets') ?? [];
    return runKith(words, env);
  };
  const told = ({ code, stdout, stderr }: Said) => [code, stdout + stderr];
  const isIn = async (call: Call, { projectId, accessToken }: TestUser) => {
    await call('GET', `/v7/${projectId}/auth/sessions`, { token: accessToken });
    return true;
  };

  it('changes the secret in a data folder, and moves the secret out of the folder', async () => {
    const data = join(folder, 'data');
    const none = { KITH_SECRET: undefined };
    let user: TestUser;
    {
      await using platform = await startInFolder(data, undefined, none);
      const people = createPeople(caller(platform.url), operatorToken);
      user = await people.createUser((await people.createProject()).id);
      expect((await rotate(holding('kith stop'), { KITH_DATA: data })).stderr).toContain('Another Kith');
    }
    const secretOf = async () => (await readFile(join(data, 'secret'), 'utf8')).trim();
    const first = await secretOf();
    const place = { engines: undefined, dataFolder: data, prefix: 'kith' };
    expect(told(await rotate(holding('kith stop'), { KITH_DATA: data }))).toEqual(everything);
    const [key] = await storedKeys(place);
    const opened = (secret: string) => () => new Secrets(secret).open('signing key', key!.sealed, key!.kid);
    expect(opened(first)).toThrow('KITH_SECRET');
    expect(opened(await secretOf())).not.toThrow();
    {
      await using platform = await startInFolder(data, undefined, none);
      expect(await isIn(caller(platform.url), user)).toBe(true);
    }

    const text = holding('> new-secret');
    await run('bash', ['-c', text.split('\n')[0] ?? ''], { cwd: folder });
    const KITH_SECRET_FILE = join(folder, 'new-secret');
    expect(told(await rotate(text, { KITH_DATA: data, KITH_SECRET_FILE }))).toEqual(everything);
    expect([existsSync(join(data, 'secret')), existsSync(join(data, 'secret.previous'))]).toEqual([
      false,
      false,
    ]);
    await expect(startInFolder(data, undefined, none)).rejects.toThrow(
      /^KITH_SECRET: the data in .* was sealed/,
    );
    const production = { ...none, NODE_ENV: 'production', OPERATOR_TOKEN: operatorToken.padEnd(32, '-') };
    await expect(startInFolder(data, undefined, production)).rejects.toThrow(
      /^KITH_SECRET: .* in production/,
    );
    await using platform = await startInFolder(data, undefined, { ...production, KITH_SECRET_FILE });
    expect(await isIn(caller(platform.url), user)).toBe(true);
  }, 60_000);

  it.runIf(availableEngines().includes('containers'))(
    'changes the secret process by process, in any order, without an outage',
    async () => {
      const prefix = uniquePrefix();
      await using engines = await startEngines();
      await using ending = new AsyncDisposableStack();
      ending.defer(() => eraseEngines(engines, prefix));
      let secrets: NodeJS.ProcessEnv = {};
      const urls = {
        MONGODB_URL: engines.mongodbUrl,
        NATS_URL: engines.natsUrl,
        REDIS_URL: engines.redisUrl,
      };
      const platform = ending.use(
        await startDistributed({
          env: {
            ...{ PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCache(), ...urls },
            ...movedSettings('', prefix),
            KITH_SECRET: old,
          },
          envOf: () => secrets,
          logFolder: join(folder, 'logs'),
        }),
      );
      const call = caller(platform.url, { patienceMs: 10_000 });
      const people = createPeople(call, operatorToken);
      const user = await people.createUser((await people.createProject()).id);
      const uploads = createUploads(platform.url);
      const restart = async (names: ProcessName[], settings: NodeJS.ProcessEnv) => {
        secrets = settings;
        for (const name of names) {
          await platform.process(name)?.stop();
          await platform.start(name);
          expect(await isIn(call, user)).toBe(true);
          // The gateway signs the upload, and storage must accept this signature.
          await uploads.uploadFile(user, 'some bytes');
        }
      };
      const during = { KITH_SECRET: recent, KITH_SECRET_PREVIOUS: old };
      await restart(['gateway', 'identity', 'storage'], during);
      const [text] = texts.filter((one) => one.includes('MONGODB_URL'));
      const again = await rotate(text ?? '', { ...urls, KITH_PREFIX: prefix, ...during });
      // Identity may already have resealed some keys in the background, so the command may find fewer keys to reseal.
      expect(told(again)).toEqual([0, expect.stringMatching(/^identity +2 +[0-2] +0$/m)]);
      await restart(['storage', 'gateway', 'identity'], { KITH_SECRET: recent });
      await platform.process('identity')?.stop();
      secrets = { KITH_SECRET: old };
      await expect(platform.start('identity')).rejects.toThrow(
        /KITH_SECRET: the signing keys .* another secret/,
      );
    },
    90_000,
  );
});
