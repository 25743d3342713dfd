// Starts no platform and at most 5 processes.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Project } from '@kith/contracts';
import { openDataFolder, serviceNames } from '@kith/platform';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import about from '../package.json' with { type: 'json' };
import { runKith } from './support/command.ts';
import { type Started, startByKith } from './support/start-script.ts';

const services = ['gateway', ...serviceNames];
const run = promisify(execFile);
const free = { PORT: '0', INTERNAL_PORT: '0' };

/** Runs a command in a folder. */
const inFolder =
  (folder: string) =>
  (words: string, env: NodeJS.ProcessEnv = {}) =>
    runKith(words.split(' '), { KITH_CWD: folder, ...env });

async function listening(answer: RequestListener): Promise<{ url: string }> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe('kith in the folder of an installation', () => {
  let folder: string;
  let started: Started;
  let kith: ReturnType<typeof inFolder>;
  let token: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kith-folder-'));
    kith = inFolder(folder);
    // A relative path in a setting is relative to the folder where the command was typed. The settings of tracing follow this
    // rule, too.
    await writeFile(join(folder, 'headers'), 'name=value\n');
    const env = { ...free, ADMIN_PORT: '0', OTEL_EXPORTER_OTLP_HEADERS_FILE: 'headers' };
    started = await startByKith({ cwd: folder, env, until: 'Ctrl-C ends it' });
    // If the start has failed, the output says why.
    expect(started.output()).toContain('Ctrl-C ends it');
    token = (await readFile(join(folder, '.kith/operator-token'), 'utf8')).trim();
  });
  afterAll(async () => {
    await started?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });
  const urlOf = () => /Kith is up at (\S+)/.exec(started.output())?.[1] ?? '';

  it('status shows the address of the running platform, and whether each service is ready', async () => {
    const { code, stdout, stderr } = await kith('status --json');
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toEqual({
      ...{ isRunning: true, isReady: true, dataFolder: join(folder, '.kith'), url: urlOf() },
      ...{ form: 'embedded', version: about.version, pid: expect.any(Number) },
      startedAt: expect.stringMatching(/^\d{4}-/),
      services: services.map((name) => ({
        ...{ name, internalUrl: expect.stringMatching(/^http:\/\/127/), isReady: true, missing: [] },
      })),
    });
    const shown = await kith('status');
    expect(shown.stdout).toContain(urlOf());
    for (const name of services) expect(shown.stdout).toMatch(new RegExp(`^${name} +ready `, 'm'));
  });

  it('finds the platform’s address and token by itself', async () => {
    const { code, stdout, stderr } = await kith('projects list --json');
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'Demo' }] satisfies Partial<Project>[]);
    const named = `projects list --json --url ${urlOf()}`;
    expect(await kith(named)).toEqual({ code, stdout, stderr });
    expect(await kith(named, { OPERATOR_TOKEN: token })).toEqual({ code, stdout, stderr });
  });

  it('calls the platform at KITH_URL with OPERATOR_TOKEN, even if the folder’s own platform runs on another machine', async () => {
    const { adminUrl } = JSON.parse(await readFile(join(folder, '.kith/running.json'), 'utf8'));
    const data = openDataFolder(join(folder, 'shared/.kith'));
    onTestFinished(() => data.release());
    data.announce({ form: 'embedded', services: {} });
    const { machine: _, ...record } = JSON.parse(data.read('running.json') ?? '');
    data.write('running.json', JSON.stringify({ ...record, host: 'elsewhere' }));
    const list = (env: NodeJS.ProcessEnv) => inFolder(join(folder, 'shared'))('projects list', env);
    const refused = await list({ KITH_URL: adminUrl });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('runs on elsewhere')]);
    expect((await list({ KITH_URL: adminUrl, OPERATOR_TOKEN: token })).code).toBe(0);
  });

  it('sends the folder’s token to no other address, no matter how the address is given', async () => {
    const asked: string[] = [];
    const { url } = await listening((request, response) => {
      asked.push(String(request.headers.authorization));
      response.end('{"data":[],"pagination":{"hasMore":false}}');
    });
    const sentence = `The operator’s token in ${folder}/.kith is not sent to ${url}, because the installation of this folder does not run there. Set OPERATOR_TOKEN or OPERATOR_TOKEN_FILE to the token of ${url}.`;
    const refused = { code: 1, stdout: '', stderr: `kith: ${sentence}\n` };
    expect(await kith(`projects list --url ${url}`)).toEqual(refused);
    expect(await kith('projects list', { KITH_URL: url })).toEqual(refused);
    expect(await kith(`demo --url ${url}`)).toEqual(refused);
    expect(await kith(`projects list --url ${url.replace('127.0.0.1', 'localhost')}`)).toMatchObject({
      code: 1,
      stdout: '',
    });
    expect(asked).toEqual([]);
    // If the caller gives an address and a token, the command sends this token to this address.
    const own = await kith('projects list --json', { KITH_URL: url, OPERATOR_TOKEN: 'another' });
    expect([own.code, JSON.parse(own.stdout), asked]).toEqual([0, [], ['Bearer another']]);
  });

  it('does not send the token of a killed platform to another program at the same address', async () => {
    const asked: unknown[] = [];
    const { url } = await listening((request, response) => {
      asked.push(request.headers.authorization);
      response.end('{}');
    });
    const other = join(folder, 'killed');
    await mkdir(join(other, '.kith'), { recursive: true });
    const record = JSON.parse(await readFile(join(folder, '.kith/running.json'), 'utf8'));
    await writeFile(join(other, '.kith/running.json'), JSON.stringify({ ...record, url }));
    await writeFile(join(other, '.kith/operator-token'), 'secret\n');
    const refused = await inFolder(other)('projects list');
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('No Kith is running on')]);
    expect((await inFolder(other)(`projects list --url ${url}`)).code).toBe(1);
    expect((await inFolder(other)('stop')).code).toBe(3);
    expect(asked).toEqual([]);
  });

  it('`kith demo` shows the demo that the start has made, makes no second demo, and does not print the operator’s token', async () => {
    const start = JSON.parse(await readFile(join(folder, '.kith/start.json'), 'utf8'));
    const { code, stdout } = await kith('demo --json');
    expect([code, JSON.parse(stdout).projectId]).toEqual([0, start.projectId]);
    expect(stdout).not.toContain(token);
    const shown = await kith('demo');
    expect(shown.stdout.split('\n').filter((line) => line.startsWith('curl '))).toHaveLength(1);
  });

  it('`kith demo` makes a demo on another platform with an ADMIN_PORT only if both addresses of the platform are given', async () => {
    const { url, adminUrl } = JSON.parse(await readFile(join(folder, '.kith/running.json'), 'utf8'));
    const other = join(folder, 'elsewhere');
    await mkdir(other);
    const elsewhere = (words: string) => inFolder(other)(words, { OPERATOR_TOKEN: token });
    const advice = 'If the platform has an ADMIN_PORT, name the address of this port with --url';
    for (const words of [`projects list --url ${url}`, `demo --url ${url}`, `demo --url ${adminUrl}`]) {
      const { code, stderr } = await elsewhere(words);
      expect([code, stderr], words).toEqual([1, expect.stringContaining(advice)]);
    }
    expect((await elsewhere(`demo --url ${adminUrl} --public-url nowhere`)).code).toBe(2);
    expect((await elsewhere(`demo --url ${adminUrl} --public-url localhost:8080`)).code).toBe(2);
    const projects = async () =>
      JSON.parse((await elsewhere(`projects list --json --url ${adminUrl}`)).stdout) as Project[];
    expect(await projects()).toHaveLength(1);
    const made = await elsewhere(`demo --json --url ${adminUrl} --public-url ${url}/`);
    expect([made.code, JSON.parse(made.stdout)]).toMatchObject([0, { url, notices: [] }]);
    expect(await projects()).toHaveLength(2);
  });

  it('finds no platform in another folder, and says so', async () => {
    const other = join(folder, 'empty');
    await mkdir(other);
    const nothing = `No Kith is running on the data folder ${other}/.kith.`;
    const said = (words: string) => inFolder(other)(words);
    const refused = { code: 3, stdout: '', stderr: `kith: ${nothing}\n` };
    expect(await said('status')).toEqual(refused);
    expect(await said('stop')).toEqual(refused);
    const advice = ' Start it with kith start, or name an address with --url.';
    expect(await said('projects list')).toEqual({ ...refused, stderr: `kith: ${nothing}${advice}\n` });
    const json = await said('status --json');
    expect(JSON.parse(json.stdout)).toEqual({ isRunning: false, dataFolder: join(other, '.kith') });
    expect(JSON.parse(json.stderr)).toEqual({ error: { code: 'not-running', message: nothing } });
    const named = await inFolder(other)('status', { KITH_DATA: '../.kith' });
    expect([named.code, named.stdout]).toEqual([0, expect.stringContaining(urlOf())]);
  });

  it('uses the folder in which the command was typed, even if npm runs the command in a parent folder', async () => {
    const below = join(folder, 'below');
    await mkdir(join(below, '.kith'), { recursive: true });
    const bin = fileURLToPath(new URL('../apps/kith/bin/kith.mjs', import.meta.url));
    const typedIn = (INIT_CWD: string) =>
      run(process.execPath, [bin, 'status'], { cwd: folder, env: { PATH: process.env.PATH, INIT_CWD } });
    await expect(typedIn(below)).rejects.toMatchObject({ code: 3 });
    // `INIT_CWD` may come from an outer npm, for example if a script of another project starts this command. If `INIT_CWD`
    // names a folder above the command's working directory, the command ignores `INIT_CWD` and uses its working directory.
    expect((await typedIn('/')).stdout).toContain(urlOf());
  });

  it('also finds an environment file in the folder in which the command was typed', async () => {
    await writeFile(join(folder, 'kith.env'), 'NODE_ENV=development\n');
    const bin = fileURLToPath(new URL('../apps/kith/bin/kith.mjs', import.meta.url));
    const words = [bin, 'doctor', '--json', '--env-file', 'kith.env'];
    const { stdout } = await run(process.execPath, words, { cwd: folder, env: { PATH: process.env.PATH } });
    const { isWell, findings } = JSON.parse(stdout);
    const says = `${join(folder, '.kith')} is readable only by its owner.`;
    expect([isWell, findings]).toEqual([
      true,
      expect.arrayContaining([{ check: 'data folder', state: 'ok', says }]),
    ]);
  });

  it('stops only this folder’s platform, and waits for its end', async () => {
    const neighbour = join(folder, 'neighbour');
    await mkdir(neighbour);
    const words = ['--json'];
    await using other = await startByKith({ cwd: neighbour, env: free, until: '"event":"up"', words });
    expect(other.output()).toContain('"event":"up"');
    const { pid } = JSON.parse((await kith('status --json')).stdout);
    const url = urlOf();
    const { code, stdout } = await kith('stop --json');
    expect([code, JSON.parse(stdout)]).toEqual([0, { dataFolder: join(folder, '.kith'), pid }]);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    await expect(fetch(url)).rejects.toThrow();
    expect(await started.exited).toBe(0);
    expect((await kith('stop')).code).toBe(3);
    const up =
      other
        .output()
        .split('\n')
        .find((line) => line.includes('"event":"up"')) ?? '';
    expect((await fetch(`${JSON.parse(up).url}/docs`)).status).toBe(200);
    expect((await inFolder(neighbour)('status')).code).toBe(0);
  }, 60_000);
});

describe('kith status of a platform that is not ready', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kith-status-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('names each service that is not ready, and what the service lacks', async () => {
    const answer =
      (missing: string[]): RequestListener =>
      (_, response) =>
        response
          .writeHead(missing.length > 0 ? 503 : 200)
          .end(JSON.stringify({ status: 'any', ...(missing.length > 0 && { missing }) }));
    const [ready, late, both] = await Promise.all([
      listening(answer([])),
      listening(answer(['store', 'bus'])),
      listening(answer(['crypto: bus'])),
    ]);
    const gone = await listening((_, response) => void response.destroy());
    const data = openDataFolder(join(folder, '.kith'));
    onTestFinished(() => data.release());
    const told = async () => {
      const { code, stdout, stderr } = await inFolder(folder)('status --json');
      const { error } = JSON.parse(stderr);
      const states = JSON.parse(stdout).services.map(({ name, missing }: never) => [name, missing]);
      return [code, error.code, error.message, Object.fromEntries(states)];
    };
    data.announce({ form: 'distributed', services: {} });
    expect(await told()).toEqual([1, 'not-ready', 'Not ready: Kith is still starting.', {}]);
    data.announce({
      ...{ form: 'distributed', url: ready.url },
      services: {
        ...{ gateway: ready.url, identity: late.url, connections: gone.url },
        ...{ crypto: both.url, collections: both.url },
      },
    });
    expect(await told()).toEqual([
      ...[1, 'not-ready', 'Not ready: identity, connections, crypto.'],
      {
        ...{ gateway: [], identity: ['store', 'bus'], connections: ['no answer'] },
        ...{ crypto: ['bus'], collections: [] },
      },
    ]);
    const shown = await inFolder(folder)('status');
    expect(shown.stdout).toMatch(/^identity +not ready: store, bus /m);
    expect(shown.stderr).toBe('kith: Not ready: identity, connections, crypto.\n');
  });
});
