// Starts no platform and at most 25 processes.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, mkdtempDisposable, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '@kith/engines';
import type { StartFile } from '@kith/platform';
import { waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runKith } from './support/command.ts';
import { bannerIn, curlLines, startByKith, startScript } from './support/start-script.ts';

const run = promisify(execFile);
const ready = 'Ctrl-C ends it';

describe('npm start', () => {
  let data: string;
  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'kith-start-'));
  });
  afterAll(() => rm(data, { recursive: true, force: true }));

  const start = (env: NodeJS.ProcessEnv = {}, words: string[] = []) =>
    startByKith({ env: { KITH_DATA: data, PORT: '0', ...env }, until: ready, words });
  /** The internal address in the output, and the text after the address. */
  const internalIn = (output: string) => /internal +(\S+) (.*)/.exec(output)?.slice(1) ?? [];

  it('prints ten lines with a command to paste, and writes start.json; a second start uses the same data', async () => {
    let first: StartFile;
    {
      await using kith = await start();
      expect(bannerIn(kith.output()).length, kith.output()).toBe(10);
      const lines = curlLines(kith.output());
      expect(lines.length, kith.output()).toBe(1);
      expect(kith.output()).toContain(`  tokens     ${join(data, 'start.json')} `);
      const reference = /reference +(\S+)/.exec(kith.output())?.[1] ?? '';
      expect(await (await fetch(reference)).text()).toContain('<title>Kith API reference</title>');
      const [internal] = internalIn(kith.output());
      expect(await (await fetch(`${internal}/metrics`)).text()).toContain('kith_build_info');
      const listed = JSON.parse((await run('bash', ['-c', lines[0] ?? ''])).stdout);

      expect((await stat(join(data, 'start.json'))).mode & 0o777).toBe(0o600);
      first = JSON.parse(await readFile(join(data, 'start.json'), 'utf8'));
      expect(first).toEqual({
        url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
        projectId: expect.any(String),
        operatorToken: expect.any(String),
        users: [0, 1].map(() => ({
          id: expect.any(String),
          email: expect.any(String),
          password: expect.any(String),
          accessToken: expect.any(String),
        })),
        collectionId: expect.any(String),
      });
      expect(reference).toBe(`${first.url}/docs?project=${first.projectId}`);
      expect(listed.connections).toMatchObject([{ connectedUser: { id: first.users[1]?.id } }]);
      // Every profile field and the message are filled.
      const [{ connectedUser, message }] = listed.connections;
      for (const field of ['name', 'username', 'avatar', 'bio', 'location', 'birthdate', 'metadata']) {
        expect(connectedUser[field], field).toBeTruthy();
      }
      expect(message).toBeTruthy();
    }
    // An empty variable counts as absent, so this is development, too.
    await using again = await start({ NODE_ENV: '' });
    const second: StartFile = JSON.parse(await readFile(join(data, 'start.json'), 'utf8'));
    expect([second.projectId, second.collectionId]).toEqual([first.projectId, first.collectionId]);
    const [list = ''] = curlLines(again.output());
    expect(JSON.parse((await run('bash', ['-c', list])).stdout).connections).toHaveLength(1);
    const mode = (await stat(join(data, 'identity.sqlite'))).mode & 0o777;
    expect(mode).toBe(0o600);
  });

  it('a start runs the program that prints the secret, and runs it only once', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'kith-start-'));
    const [program, runs] = [join(folder.path, 'print-secret'), join(folder.path, 'runs')];
    await writeFile(program, `#!/bin/sh\necho run >> ${runs}\necho ${'s3cret-'.repeat(5)}\n`, {
      mode: 0o700,
    });
    await using kith = await start({ KITH_DATA: join(folder.path, 'data'), KITH_SECRET_COMMAND: program });
    expect([kith.output(), await readFile(runs, 'utf8')]).toEqual([expect.stringContaining(ready), 'run\n']);
  });

  it('ends with code 0 on Ctrl-C, and leaves no process', async () => {
    const kith = await start();
    kith.signal('SIGINT');
    expect(await kith.exited).toBe(0);
    expect(() => process.kill(-kith.pid, 0)).toThrow();
  });

  it('starts even if a rate limit stops the creation of the demo, and the next start completes the demo', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'kith-start-'));
    const env = {
      KITH_DATA: folder.path,
      RATE_LIMITS: '{"identity.sign-up":{"max":1,"windowSeconds":300}}',
    };
    const read = async (): Promise<StartFile> =>
      JSON.parse(await readFile(join(folder.path, 'start.json'), 'utf8'));
    let first: StartFile;
    {
      await using kith = await start(env);
      expect(kith.output()).toContain('The demo is not complete: Too many requests.');
      expect(kith.output()).toContain(ready);
      first = await read();
      expect(first.users).toHaveLength(1);
    }
    await using again = await start(env);
    expect(again.output()).not.toContain('not complete');
    const second = await read();
    expect(second).toMatchObject({ projectId: first.projectId, collectionId: expect.stringMatching(/./) });
    expect(second.users.map(({ email }) => email)).toEqual(['ada@example.com', 'grace@example.com']);
    const listed = await runKith(['projects', 'list', '--json'], { KITH_DATA: folder.path });
    expect(JSON.parse(listed.stdout)).toHaveLength(1);
  });

  it('uses the port from the command line', async () => {
    const port = await freePort();
    await using kith = await start({}, ['--port', String(port)]);
    expect(kith.output()).toContain(`Kith is up at http://127.0.0.1:${port}\n`);
  });
});

describe('a start that takes long', () => {
  it('is ended immediately by kith stop', async () => {
    // The engines of this start accept connections but never answer, so the services wait for them.
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    await using folder = await mkdtempDisposable(join(tmpdir(), 'kith-start-'));
    const at = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const engines = { MONGODB_URL: `mongodb://${at}`, NATS_URL: `nats://${at}`, REDIS_URL: `redis://${at}` };
    const env = { KITH_DATA: folder.path, PORT: '0', ...engines };
    const starting = startByKith({ env, until: ready, words: ['--distributed'] });
    const isLogged = () => existsSync(join(folder.path, 'logs/identity.log'));
    await waitFor(isLogged, { what: 'the services to start' });
    const stopped = await runKith(['stop'], { KITH_DATA: folder.path });
    expect([stopped.code, stopped.stderr]).toEqual([0, '']);
    const started = await starting;
    expect([await started.exited, started.output()]).toEqual([0, '']);
    // The services would end by themselves, but only after they have given up on the engines. So the test kills them.
    started.signal('SIGKILL');
    silent.close();
  });
});

describe('the arguments of a start', () => {
  const env = { KITH_DATA: '/dev/null/kith' };
  const say = async (...words: string[]) => {
    const said = await startByKith({ env, until: ready, words });
    return [await said.exited, said.output()];
  };

  it('npm run example has a help text, and an unknown option starts nothing', async () => {
    const example = async (...words: string[]) => {
      const said = await startScript('tools/example.ts', { env, until: ready, words });
      return [await said.exited, said.output()];
    };
    const help = /^npm run example -- \[--port <number>\]\n[\s\S]*--port[\s\S]*--help/;
    expect(await example('--help')).toEqual([0, expect.stringMatching(help)]);
    const refusal = "npm run example: Unknown option '--prot'. See npm run example -- --help.\n";
    expect(await example('--prot', '4000')).toEqual([2, refusal]);
  });

  it.each([
    [['--port'], "Option '--port <value>' argument missing."],
    [['--port', 'eighty'], '--port: a whole number is needed.'],
    [['--port', '65536'], '--port: a whole number from 0 to 65535 is needed.'],
    [['--plain-engines'], '--plain-engines needs --distributed.'],
  ])('%j starts nothing', async (words, sentence) => {
    expect(await say(...words)).toEqual([2, `kith: ${sentence} See kith start --help.\n`]);
  });

  it('Kith starts no engines if the settings name only some engines', async () => {
    const words = ['--distributed'];
    const given = { ...env, MONGODB_URL_FILE: fileURLToPath(import.meta.url), NATS_URL: 'nats://127.0.0.1' };
    const said = await startByKith({ env: given, until: ready, words });
    const sentence =
      'REDIS_URL: must be set together with MONGODB_URL and NATS_URL. Set all three. If none is set, Kith starts the engines itself.';
    expect([await said.exited, said.output()]).toEqual([1, `kith: ${sentence}\n`]);
  });

  it.each([[[]], [['--distributed']]])(
    'a file named by NODE_ENV_FILE can set NODE_ENV to production, with %j',
    async (words) => {
      await using folder = await mkdtempDisposable(join(tmpdir(), 'kith-start-'));
      const file = join(folder.path, 'node-env');
      await writeFile(file, 'production\n');
      const given = { KITH_DATA: join(folder.path, 'data'), PORT: '0', NODE_ENV_FILE: file };
      await using said = await startByKith({ env: given, until: ready, words });
      expect(said.output()).toContain(
        'KITH_SECRET: a secret of at least 32 characters is needed in production',
      );
      expect(await said.exited).toBe(1);
    },
  );

  it('Kith starts nothing if npm has removed the name of an option, and says why', async () => {
    const given = { env: { ...env, npm_lifecycle_event: 'start' }, until: ready, words: ['4000'] };
    const said = await startByKith(given);
    const npm = 'npm passes on only options after two dashes.';
    const refusal = `kith: Unexpected argument: 4000. ${npm} See kith start --help.\n`;
    expect([await said.exited, said.output()]).toEqual([2, refusal]);
  });
});
