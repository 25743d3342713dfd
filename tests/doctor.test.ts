// Starts at most 2 platforms and 8 processes.
import { execFile } from 'node:child_process';
import { appendFile, chmod, mkdtemp, readFile, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { openDataFolder } from '@kith/platform';
import { availableEngines, type Engines, sharedPlatform, startEngines, uniquePrefix } from '@kith/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { kith, runKith } from './support/command.ts';
import { makeFolders, secret, startOn } from './support/folder-platform.ts';

interface Finding {
  check: string;
  state: string;
  says: string;
  mend?: string;
}

const run = promisify(execFile);
const production = {
  NODE_ENV: 'production',
  KITH_SECRET: secret,
  TOKEN_AUDIENCE: 'example.org',
  TRUST_PROXY_HOPS: '1',
};

const development =
  'warning NODE_ENV is development: demo data, test tokens and the whole reference are open to everybody.';

const opens = 'ok It opens the signing keys in the database.';
const another = 'a secret under which nothing in these databases was sealed';
const sealedUnderAnother = 'KITH_SECRET: the signing keys in the database were sealed under another secret.';

/** Runs `kith doctor` in an environment, and returns its findings. */
async function examine(env: NodeJS.ProcessEnv, words: string[] = []) {
  const said = await runKith(['doctor', '--json', ...words], env);
  const { isWell, findings } = JSON.parse(said.stdout) as { isWell: boolean; findings: Finding[] };
  expect(said.code).toBe(isWell ? 0 : 1);
  expect(isWell).toBe(findings.every(({ state }) => state !== 'wrong'));
  const of = (check: string) =>
    findings.filter((one) => one.check === check).map(({ state, says }) => `${state} ${says}`);
  return { isWell, findings, of, stderr: said.stderr };
}

describe('kith doctor on a data folder', () => {
  let folders: Awaited<ReturnType<typeof makeFolders>>;
  let whole: string;
  let folder: string;
  let env: NodeJS.ProcessEnv;
  beforeAll(async () => {
    folders = await makeFolders();
    whole = await folders.make();
    await (await startOn(whole)).stop();
  });
  beforeEach(async () => {
    folder = await folders.mix(whole, whole, []);
    env = { ...production, KITH_DATA: folder };
  });
  afterAll(() => folders?.[Symbol.asyncDispose]());

  it('reports ok for every check of an intact data folder, one line per check', async () => {
    const { isWell, findings, of } = await examine(env);
    expect(isWell).toBe(true);
    expect(findings.filter(({ state }) => state === 'wrong')).toEqual([]);
    expect(of('data folder')).toEqual([`ok ${folder} is readable only by its owner.`]);
    expect(of('files')).toEqual(['ok The files belong to one installation.']);
    expect(of('secret')).toEqual([opens]);
    for (const name of ['identity', 'connections', 'collections', 'notifications', 'storage'])
      expect(of(`database ${name}`)).toEqual(['ok It is undamaged and has all its indexes.']);
    const { stdout, code } = await runKith(['doctor'], env);
    expect(code).toBe(0);
    expect(stdout.trimEnd().split('\n')).toHaveLength(findings.length);
    expect(stdout).toContain('ok       database identity: It is undamaged and has all its indexes.\n');
  });

  it.each<[string, string, () => Promise<unknown>, RegExp, RegExp]>([
    [
      'its mode',
      'data folder',
      () => chmod(folder, 0o755),
      /Other users can look into .* \(0755\)/,
      /chmod 700/,
    ],
    [
      'a missing file',
      'files',
      () => rm(join(folder, 'identity.sqlite')),
      /identity\.sqlite .* is missing/,
      /Restore it/,
    ],
    [
      'an empty file',
      'files',
      () => truncate(join(folder, 'storage.sqlite')),
      /storage\.sqlite .* is empty/,
      /Restore it/,
    ],
    [
      'a damaged file',
      'database collections',
      () => damage('collections'),
      /damaged|malformed|cannot be read/,
      /Restore it/,
    ],
    [
      'a lost index',
      'database identity',
      () => dropIndex('identity'),
      /lacks .+\. Without indexes/,
      /Restart/,
    ],
    ['the clock', 'clock', () => future(), /clock is \d+ s behind/, /Set the clock/],
  ])('finds what is wrong with %s', async (_, check, breakIt, says, mend) => {
    await breakIt();
    const { isWell, findings } = await examine(env);
    const found = findings.find((one) => one.check === check && one.state === 'wrong');
    expect([isWell, found?.says]).toEqual([false, expect.stringMatching(says)]);
    expect(found?.mend).toMatch(mend);
  });

  async function damage(service: string): Promise<void> {
    const file = join(folder, `${service}.sqlite`);
    const bytes = await readFile(file);
    bytes.fill(0xff, 4096, Math.min(bytes.length, 65536));
    await writeFile(file, bytes);
  }

  async function dropIndex(service: string): Promise<void> {
    using db = new DatabaseSync(join(folder, `${service}.sqlite`));
    const [index] = db.prepare("SELECT name FROM sqlite_master WHERE type = 'index' AND sql <> ''").all();
    db.exec(`DROP INDEX "${index?.name}"`);
  }

  function future(): Promise<void> {
    const later = new Date(Date.now() + 3600_000);
    return utimes(join(folder, 'events.sqlite'), later, later);
  }

  it('finds a disk that is too full', async () => {
    const { of } = await examine(env, ['--least-gib', '10000000']);
    expect(of('disk')).toEqual([
      expect.stringMatching(/^wrong [\d.]+ GiB are free at .*, less than 10000000/),
    ]);
  });

  it.each<[string, NodeJS.ProcessEnv, RegExp]>([
    [
      'an invalid setting',
      { CORS_ORIGINS: 'https://a.test/app' },
      /^wrong CORS_ORIGINS: "https:\/\/a\.test\/app" is not a web origin/,
    ],
    ['several invalid settings', { PORT: 'http', LOG_LEVEL: 'loud' }, /^wrong (PORT|LOG_LEVEL): /],
    [
      'an environment that is not production',
      { NODE_ENV: 'development' },
      /^warning NODE_ENV is development/,
    ],
    ['an empty NODE_ENV', { NODE_ENV: '' }, /^warning NODE_ENV is development/],
    ['a short token', { OPERATOR_TOKEN: 'short' }, /^wrong OPERATOR_TOKEN has 5 characters/],
    [
      'a token that can be guessed',
      { OPERATOR_TOKEN: 'ab'.repeat(20) },
      /^wrong OPERATOR_TOKEN repeats a few/,
    ],
    [
      'a program that prints a short secret',
      { KITH_SECRET: '', KITH_SECRET_COMMAND: 'echo short' },
      /^wrong KITH_SECRET: at least 32 characters/,
    ],
    ['a missing secret', { KITH_SECRET: '' }, /^wrong KITH_SECRET is not set: .* does not start/],
    ['tokens for tests', { ALLOW_TEST_TOKENS: 'true' }, /^wrong ALLOW_TEST_TOKENS is true/],
    ['no limits', { RATE_LIMIT_SCALE: '0' }, /^wrong RATE_LIMIT_SCALE is 0/],
    ['an address without TLS', { PUBLIC_URL: 'http://api.example.org' }, /^wrong PUBLIC_URL is http:/],
    [
      'a proxy that is not counted',
      { PUBLIC_URL: 'https://127.0.0.1:9', TRUST_PROXY_HOPS: '0' },
      /^wrong TRUST_PROXY_HOPS is 0/,
    ],
    ['a port beside the proxy', { HOST: '0.0.0.0' }, /^warning HOST is 0\.0\.0\.0 behind a proxy/],
    ['open metrics', { INTERNAL_HOST: '0.0.0.0' }, /^warning INTERNAL_HOST is 0\.0\.0\.0/],
    ['an open reference', { API_REFERENCE: 'all' }, /^warning API_REFERENCE is all/],
    ['an audience that others have', { TOKEN_AUDIENCE: '' }, /^warning TOKEN_AUDIENCE is the default/],
  ])('finds %s', async (_, changes, line) => {
    const { of, isWell } = await examine({ ...env, ...changes });
    const found = of('settings').find((one) => line.test(one));
    expect(found).toBeDefined();
    expect(isWell).toBe(found?.startsWith('warning'));
  });

  it('reports every wrong setting, and never prints a secret', async () => {
    const { findings } = await examine({ ...env, PORT: 'x', LOG_LEVEL: 'x', OPERATOR_TOKEN: 'hunter2' });
    const wrong = findings
      .filter(({ state }) => state === 'wrong')
      .map(({ says }) => says.split(/[: ]/, 1)[0]);
    expect(wrong.sort()).toEqual(['LOG_LEVEL', 'OPERATOR_TOKEN', 'PORT']);
    expect(JSON.stringify(findings)).not.toContain('hunter2');
  });

  it('reads the environment file of a unit, and checks who can read the secret files that the environment file names', async () => {
    const [file, key] = [join(folder, 'kith.env'), join(folder, 'key')];
    await writeFile(key, secret, { mode: 0o644 });
    await writeFile(file, `KITH_DATA=${folder}\nKITH_SECRET_FILE=${key}\nTRUST_PROXY_HOPS=1\n`);
    const { of } = await examine({}, ['--env-file', file]);
    // systemd gives Kith only the variables of the file. This file does not set NODE_ENV, so Kith would run in development. The
    // doctor reports this even if NODE_ENV is set in the doctor's own environment.
    expect(of('settings')).toContain(development);
    expect((await examine({ NODE_ENV: 'production' }, ['--env-file', file])).of('settings')).toContain(
      development,
    );
    const says = `wrong KITH_SECRET_FILE: every user of this machine can read ${key}.`;
    expect(of('settings')).toContain(says);
    await chmod(key, 0o600);
    await appendFile(file, 'NODE_ENV=production\n');
    const after = (await examine({}, ['--env-file', file])).of('settings');
    for (const one of [says, development]) expect(after).not.toContain(one);
  });

  it('reports only once that the environment file of a unit has no secret, and names the file that holds a secret', async () => {
    const [file, kept] = [join(folder, 'kith.env'), join(folder, 'secret')];
    await writeFile(file, `NODE_ENV=production\nKITH_DATA=${folder}\nTRUST_PROXY_HOPS=1\n`);
    const anyPorts = { PORT: '0', INTERNAL_PORT: '0' };
    const started = await kith(['start'], { NODE_ENV: 'production', KITH_DATA: folder, ...anyPorts });
    expect([started.code, started.stderr]).toEqual([
      1,
      expect.stringContaining('KITH_SECRET: a secret of at least 32 characters is needed in production'),
    ]);
    const mending = async () => {
      const { findings } = await examine({}, ['--env-file', file]);
      const about = findings.filter(
        ({ check, says }) => check === 'settings' && says.includes('KITH_SECRET'),
      );
      expect(about).toMatchObject([
        { state: 'wrong', says: expect.stringMatching(/^KITH_SECRET is not set/) },
      ]);
      return about[0]?.mend;
    };
    expect(await mending()).toMatch(/^Set KITH_SECRET_FILE .* openssl rand -base64 32$/);
    await writeFile(kept, secret, { mode: 0o600 });
    expect(await mending()).toMatch(`Move ${kept} to a place outside of the data folder`);
    // A secret file that cannot be read is reported once. The secret is not reported as missing, too.
    const lines = ['NODE_ENV=production', `KITH_DATA=${folder}`];
    // The second path uses a file as if it were a folder.
    for (const named of [join(folder, 'nothing'), join(kept, 'secret')]) {
      await writeFile(file, [...lines, `KITH_SECRET_FILE=${named}`, ''].join('\n'));
      const { of } = await examine({}, ['--env-file', file]);
      expect(of('settings').filter((one) => one.includes('KITH_SECRET'))).toEqual([
        `wrong KITH_SECRET_FILE: ${named} cannot be read.`,
      ]);
    }
  });

  it.each<[string, NodeJS.ProcessEnv, () => string]>([
    ['another secret', { KITH_SECRET: another }, () => sealedUnderAnother],
    [
      'no secret',
      { KITH_SECRET: '', NODE_ENV: 'development' },
      () => `KITH_SECRET: the data in ${folder} was sealed under a secret that is missing.`,
    ],
  ])('finds, with the sentence of `kith start`, that Kith cannot start with %s', async (_, changes, says) => {
    const { isWell, findings } = await examine({ ...env, ...changes });
    const mend = expect.stringMatching(/^Set KITH_SECRET to /);
    const found = findings.filter(({ check }) => check === 'secret');
    expect([isWell, found]).toEqual([false, [{ check: 'secret', state: 'wrong', says: says(), mend }]]);
    // This start also shows that the doctor has not made a secret in the data folder.
    const started = await kith(['start'], { ...env, ...changes, PORT: '0', INTERNAL_PORT: '0' });
    expect([started.code, started.stderr]).toEqual([
      1,
      expect.stringContaining(`${found[0]?.says} ${found[0]?.mend}`),
    ]);
  });

  it('opens the keys with every secret that a start would use', async () => {
    expect(
      (await examine({ ...env, KITH_SECRET: another, KITH_SECRET_PREVIOUS: secret })).of('secret'),
    ).toEqual([opens]);
    await writeFile(join(folder, 'secret'), `${secret}\n`, { mode: 0o600 });
    for (const changes of [{ KITH_SECRET: another }, { KITH_SECRET: '', NODE_ENV: 'development' }])
      expect((await examine({ ...env, ...changes })).of('secret')).toEqual([opens]);
  });

  it('reports nothing about the secret of an installation that has no keys yet', async () => {
    const changes = { KITH_SECRET: another };
    expect((await examine({ ...env, ...changes, KITH_DATA: await folders.make() })).of('secret')).toEqual([]);
    using db = new DatabaseSync(join(folder, 'identity.sqlite'));
    db.exec('DELETE FROM keys');
    expect((await examine({ ...env, ...changes })).of('secret')).toEqual([]);
  });

  it('does not advise to restore a backup if a newer version has written the keys', async () => {
    using db = new DatabaseSync(join(folder, 'identity.sqlite'));
    db.exec('UPDATE keys SET shape = 99');
    const { of, findings } = await examine(env);
    expect(of('secret')).toEqual([
      expect.stringMatching(/^wrong The signing keys cannot be read: .*newer version/),
    ]);
    expect(findings.map(({ mend }) => mend).join()).not.toContain('backup');
  });

  it('uses the environment file of a unit instead of the doctor’s own environment, also for settings that name files', async () => {
    const [file, key, where] = [join(folder, 'kith.env'), join(folder, 'key'), join(folder, 'where')];
    await writeFile(key, secret, { mode: 0o600 });
    await writeFile(where, `${folder}\n`);
    await writeFile(file, `NODE_ENV=production\nKITH_DATA_FILE=${where}\nKITH_SECRET_FILE=${key}\n`);
    const own = { KITH_DATA: join(folder, 'nothing'), KITH_SECRET: 'x'.repeat(40), NODE_ENV: 'test' };
    const { of } = await examine(own, ['--env-file', file]);
    expect(of('data folder')).toEqual([`ok ${folder} is readable only by its owner.`]);
    expect(of('settings').filter((one) => /KITH_SECRET|NODE_ENV/.test(one))).toEqual([]);
  });

  it('uses a setting of the environment file, in any form, instead of the one in the environment, and keeps a # in a value', async () => {
    const [file, own] = [join(folder, 'kith.env'), join(folder, 'own')];
    await writeFile(own, secret, { mode: 0o600 });
    const lines = [`KITH_DATA=${folder}`, 'KITH_SECRET_COMMAND=echo short', 'CORS_ORIGINS=https://a.test#b'];
    await writeFile(file, lines.join('\n'));
    const found = (await examine({ KITH_SECRET_FILE: own }, ['--env-file', file])).of('settings');
    expect(found).toContain('wrong KITH_SECRET: at least 32 characters are needed.');
    expect(found).toContainEqual(expect.stringContaining('CORS_ORIGINS: "https://a.test#b"'));
  });

  it('asks the platform that runs on the data folder whether it is ready', async () => {
    let missing = ['identity: database'];
    const services = createServer((_, response) => response.end(JSON.stringify({ missing })));
    await new Promise<void>((resolve) => services.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(services.address() as AddressInfo).port}`;
    const opened = openDataFolder(folder);
    try {
      expect((await examine({ ...env, KITH_DATA: whole })).of('platform')).toEqual([
        `warning No Kith is running on ${whole}.`,
      ]);
      opened.announce({ form: 'embedded', services: {} });
      expect((await examine(env)).of('platform')).toEqual(['wrong It is not ready: Kith is still starting.']);
      opened.announce({ form: 'embedded', url, services: { gateway: url, identity: url } });
      expect((await examine(env)).of('platform')).toEqual(['wrong It is not ready: identity: database.']);
      missing = [];
      expect((await examine(env)).of('platform')).toEqual([`ok It is ready at ${url}.`]);
    } finally {
      opened.release();
      services.close();
    }
    const { of } = await examine({ ...env, KITH_DATA: join(folder, 'nothing') });
    expect(of('data folder')).toEqual([`wrong There is no data folder ${join(folder, 'nothing')}.`]);
  });
});

describe('kith doctor at a public address', () => {
  let folder: string;
  const servers: { close(): unknown }[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kith-doctor-'));
  });
  afterAll(async () => {
    for (const server of servers) server.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('finds a certificate that is not trusted, a certificate that expires soon, a redirect, and a missing server', async () => {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const words = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-days', '5'];
    await run('openssl', [...words, '-keyout', key, '-out', cert, ...names]);
    let location: string | undefined;
    const server = createTlsServer({ key: await readFile(key), cert: await readFile(cert) }, (_, response) =>
      response
        .writeHead(location ? 308 : 400, location ? { location } : {})
        .end('{"code":"project/invalid-id"}'),
    );
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, resolve));
    const { port } = server.address() as AddressInfo;
    const env = { ...production, KITH_DATA: folder, PUBLIC_URL: `https://localhost:${port}` };
    expect((await examine(env)).of('certificate')).toEqual([
      expect.stringMatching(/^wrong Clients refuse the certificate of localhost: .*SELF_SIGNED/),
    ]);
    const trusting = await kithTrusting(cert, env);
    expect(trusting).toMatch(/^wrong {4}certificate: The certificate of localhost expires in [345] days\./m);
    expect(trusting).toContain(`ok       address: Kith answers at https://localhost:${port}.`);
    location = 'https://api.example.org/v7/x';
    expect(await kithTrusting(cert, env)).toContain(
      `wrong    address: https://localhost:${port} redirects to https://api.example.org. `,
    );
    location = undefined;
    const file = join(folder, 'kith.env');
    await writeFile(file, `NODE_EXTRA_CA_CERTS=${cert}\n`);
    expect((await kith(['doctor', '--env-file', file], { ...env, NODE_ENV: 'test' })).stdout).toContain(
      `ok       address: Kith answers at https://localhost:${port}.`,
    );
    await writeFile(file, `NODE_EXTRA_CA_CERTS=${join(folder, 'nothing')}\n`);
    expect((await examine(env, ['--env-file', file])).of('certificate')).toContain(
      `wrong NODE_EXTRA_CA_CERTS: ${join(folder, 'nothing')} cannot be used (ENOENT).`,
    );
    server.close();
    server.closeAllConnections();
    expect((await examine(env)).of('certificate')).toEqual([
      `wrong There is no TLS at localhost:${port} (ECONNREFUSED).`,
    ]);
  });

  /** Runs `kith doctor` in a process of its own, because Node reads the list of trusted authorities only at its start. */
  async function kithTrusting(authority: string, env: NodeJS.ProcessEnv): Promise<string> {
    return (await kith(['doctor'], { ...env, NODE_EXTRA_CA_CERTS: authority })).stdout;
  }
});

describe.runIf(availableEngines().includes('containers'))('kith doctor at engines', () => {
  let engines: Engines;
  let env: NodeJS.ProcessEnv;
  beforeAll(async () => {
    const platform = await sharedPlatform('containers');
    engines = await startEngines();
    env = {
      ...production,
      MONGODB_URL: engines.mongodbUrl,
      NATS_URL: engines.natsUrl,
      REDIS_URL: engines.redisUrl,
      KITH_PREFIX: platform.prefix,
      KITH_SECRET: platform.secret,
    };
  });
  afterAll(() => engines?.[Symbol.asyncDispose]());

  it('finds nothing wrong with the engines of a platform, but warns of engines without passwords', async () => {
    const { isWell, of, findings } = await examine(env);
    expect(findings.filter(({ state }) => state === 'wrong')).toEqual([]);
    expect(isWell).toBe(true);
    expect(of('database identity')).toEqual(['ok It is undamaged and has all its indexes.']);
    expect(of('secret')).toEqual([opens]);
    for (const engine of ['MongoDB', 'NATS', 'Redis'])
      expect(of(engine)).toEqual([`warning ${engine} accepts connections without credentials.`]);
  });

  it.each([
    [
      'MongoDB',
      { MONGODB_URL: 'mongodb://user:hunter2@127.0.0.1:9' },
      /^wrong MongoDB at mongodb:\/\/127\.0\.0\.1:9 does not answer/,
    ],
    ['NATS', { NATS_URL: 'nats://127.0.0.1:9' }, /^wrong NATS at nats:\/\/127\.0\.0\.1:9 does not answer/],
    [
      'Redis',
      { REDIS_URL: 'redis://:hunter2@127.0.0.1:9' },
      /^wrong Redis at redis:\/\/127\.0\.0\.1:9 does not answer/,
    ],
    ['NATS', { NATS_URL: '' }, /^wrong NATS_URL is not set/],
  ])('finds that %s cannot be used', async (engine, changes, line) => {
    const { isWell, of, findings } = await examine({ ...env, ...changes });
    expect([isWell, of(engine)]).toEqual([false, [expect.stringMatching(line)]]);
    expect(JSON.stringify(findings)).not.toContain('hunter2');
  });

  it('finds that the services cannot start with another secret, unless the former secret is named, too', async () => {
    const changed = { ...env, KITH_SECRET: another };
    const { isWell, of } = await examine(changed);
    expect([isWell, of('secret')]).toEqual([false, [`wrong ${sealedUnderAnother}`]]);
    const { KITH_SECRET } = env;
    expect((await examine({ ...changed, KITH_SECRET_PREVIOUS: KITH_SECRET })).of('secret')).toEqual([opens]);
  });

  it('finds missing indexes and streams', async () => {
    const { isWell, of } = await examine({ ...env, KITH_PREFIX: uniquePrefix() });
    expect(isWell).toBe(false);
    expect(of('database identity')).toEqual([expect.stringMatching(/^wrong It lacks .*by /)]);
    expect(of('secret')).toEqual([]);
    expect(of('NATS')).toContainEqual(expect.stringMatching(/^warning The streams .* are not there/));
  });
});
