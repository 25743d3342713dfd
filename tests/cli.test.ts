// Starts at most 2 platforms and 8 processes.
import { spawn } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, mkdtempDisposable, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createLogger } from '@kith/base';
import { InProcessBus } from '@kith/bus/in-process';
import { importUsers, type OwnUser, type Project, type ProjectUser } from '@kith/contracts';
import { openDataFolder } from '@kith/platform';
import { commands } from '@kith/platform/cli';
import {
  availableEngines,
  compileCache,
  sharedPlatform,
  type TestPlatform,
  type TestUser,
  waitFor,
} from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import about from '../package.json' with { type: 'json' };
import { accessOf, kith, main, runKith } from './support/command.ts';
import { layGate } from './support/gate.ts';

const root = fileURLToPath(new URL('../', import.meta.url));

describe.each(availableEngines())('kith on a platform (%s)', (engine) => {
  let platform: TestPlatform;
  let folder: string;
  beforeAll(async () => {
    platform = await sharedPlatform(engine);
    folder = await mkdtemp(join(tmpdir(), 'kith-cli-'));
  });
  afterAll(async () => {
    await platform?.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const done = async (...words: string[]) => {
    const said = await runKith(words, { ...accessOf(platform), KITH_CWD: folder });
    expect([said.code, said.stderr]).toEqual([0, '']);
    expect(said.stdout).not.toContain(platform.operatorToken);
    return said.stdout;
  };
  const json = async <T>(...words: string[]) => JSON.parse(await done(...words, '--json')) as T;

  it('creates, lists, shows and updates projects', async () => {
    const [made] = await json<Project[]>(
      'projects',
      'create',
      '--name',
      'Reading club',
      '--public-profiles',
      'none',
    );
    expect(made).toMatchObject({ name: 'Reading club', publicProfiles: 'none', publicKey: null });
    const { id } = made as Project;
    const { publicKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { format: 'pem', type: 'spki' },
      privateKeyEncoding: { format: 'pem', type: 'pkcs8' },
    });
    await writeFile(join(folder, 'key.pem'), publicKey);
    const origin = 'https://app.example.org';
    const [updated] = await json<Project[]>(
      ...['projects', 'update', id, '--name', 'Book club', '--public-key', 'key.pem', '--web-origin', origin],
    );
    expect(updated).toMatchObject({
      name: 'Book club',
      publicKey,
      webOrigins: [origin],
      publicProfiles: 'none',
    });
    expect(JSON.parse(await done('projects', 'show', id))).toEqual(updated);
    expect(await json<Project[]>('projects', 'list')).toContainEqual(updated);
    expect(await done('projects', 'list')).toMatch(new RegExp(`^id .*\\n(.*\\n)*${id}  Book club  .* none `));
    const shown = await done('projects', 'update', id, '--storage-mib', '5');
    expect(JSON.parse(shown)).toMatchObject({ id, storageMib: 5 });
    const [bare] = await json<Project[]>('projects', 'update', id, '--no-public-key', '--any-web-origin');
    expect(bare).toMatchObject({ publicKey: null, webOrigins: [] });
  });

  it('sets limits of a project', async () => {
    const limit = ['--limit', 'identity.sign-in=100/300', '--limit', 'identity.get-user=none'];
    const [made] = await json<Project[]>('projects', 'create', '--name', 'Limits', ...limit);
    const { id, limits } = made as Project;
    expect(limits).toEqual({
      'identity.sign-in': { max: 100, windowSeconds: 300 },
      'identity.get-user': null,
    });
    const update = async (...words: string[]) =>
      (await json<Project[]>('projects', 'update', id, ...words))[0]?.limits;
    expect(await update('--name', 'Others')).toEqual(limits);
    const other = { 'connections.list': { max: 1, windowSeconds: 60 } };
    expect(await update('--limit', 'connections.list=1/60')).toEqual(other);
    for (const wrong of ['connections.list', 'connections.list=', '=1/60', 'connections.list=many/60']) {
      const said = await runKith(['projects', 'update', id, '--limit', wrong], accessOf(platform));
      expect([said.code, said.stderr]).toEqual([
        2,
        'kith: --limit must be OPERATION=MAX/SECONDS, for example identity.sign-in=100/300. See kith projects update --help.\n',
      ]);
    }
    const unknown = await runKith(['projects', 'update', id, '--limit', 'x.y=1/60'], accessOf(platform));
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      'kith: --limit must name operations of this API; no operation is called x.y. (project/invalid-body)\n',
    ]);
    expect(await update('--usual-limits')).toEqual({});
  });

  it('deletes a project only with --yes', async () => {
    const { id } = await platform.createProject();
    const asked = await runKith(['projects', 'delete', id], accessOf(platform));
    expect([asked.code, asked.stderr]).toEqual([
      2,
      'kith: Add --yes to delete the project for good. See kith projects delete --help.\n',
    ]);
    expect(await done('projects', 'show', id)).not.toContain('deleting');
    const deleted = [{ id, status: 'deleting' }];
    expect(await json('projects', 'delete', id, '--yes')).toEqual(deleted);
    expect(await done('projects', 'show', id)).toContain('"usersLeft": 0');
  });

  it('deletes a file only with --yes', async () => {
    const user = await platform.createUser();
    const { fileId } = await platform.uploadFile(user, 'a file of a user');
    const words = ['files', 'delete', fileId, '--project', user.projectId];
    const asked = await runKith(words, accessOf(platform));
    expect([asked.code, asked.stderr]).toEqual([
      2,
      'kith: Add --yes to delete the file for good. See kith files delete --help.\n',
    ]);
    const read = () => platform.client(user).storage.getFile({ fileId });
    await read();
    expect(await done(...words, '--yes')).toBe(`The file ${fileId} is deleted\n`);
    await expect(read()).rejects.toMatchObject({ code: 'storage/not-found' });
    const again = await runKith([...words, '--yes'], accessOf(platform));
    expect([again.code, again.stderr]).toEqual([
      1,
      expect.stringMatching(/^kith: .* \(storage\/not-found\)\n$/),
    ]);
  });

  it('lists users, suspends and restores them', async () => {
    const { id } = await platform.createProject();
    const users: TestUser[] = [];
    for (let count = 0; count < 3; count++)
      users.push(await platform.createUser(id, { name: `No ${count}` }));
    const ids = (list: OwnUser[]) => list.map((user) => user.id);
    expect(ids(await json('users', 'list', '--project', id))).toEqual(users.map((user) => user.id).reverse());
    expect(ids(await json('users', 'list', '--project', id, '--query', 'no 1'))).toEqual([users[1]!.id]);
    const user = users[0]!;
    expect(await json('users', 'suspend', user.id, '--project', id)).toMatchObject([{ isActive: false }]);
    const read = () => platform.call('GET', `/v7/${id}/auth/sessions`, { token: user.accessToken });
    await waitFor(() =>
      read().then(
        () => false,
        (error) => error.code === 'auth/suspended',
      ),
    );
    expect(await done('users', 'restore', user.id, '--project', id)).toMatch(/ active\n$/);
  });

  it('lists every row once while rows are added and removed', async () => {
    const { id } = await platform.createProject();
    const { operatorToken: token } = platform;
    const rows = Array.from({ length: 150 }, (_, index) => ({ foreignId: `person-${index}` }));
    const path = importUsers.path.replace(':projectId', id);
    await platform.call('POST', path, { token, body: { rows } });
    const before = await json<ProjectUser[]>('users', 'list', '--project', id);
    const gone = await platform.createUser(id);
    let pages = 0;
    await using gate = await layGate(platform.url, async ({ stage }) => {
      if (stage !== 'asked') return false;
      pages++;
      // Before the second page is read, three rows are added to the list, and one is removed.
      if (pages === 2) {
        for (let count = 0; count < 3; count++) await platform.createUser(id);
        const { accessToken } = gone;
        await platform.call('DELETE', `/v7/${id}/users/${gone.id}`, { token: accessToken });
      }
      return false;
    });
    const env = { ...accessOf(platform), KITH_URL: gate.url };
    const said = await runKith(['users', 'list', '--project', id, '--json'], env);
    const listed = (JSON.parse(said.stdout) as ProjectUser[]).map((user) => user.id);
    expect(pages).toBe(2);
    expect(listed).toEqual([gone.id, ...before.map((user) => user.id)]);
  });

  it('changes the fields of a user that only operators may change', async () => {
    const { id } = await platform.createProject();
    const user = await platform.createUser(id);
    const update = (...words: string[]) => json('users', 'update', user.id, '--project', id, ...words);
    const given = ['--role', 'moderator', '--reputation=-2.5', '--verified', 'yes'];
    const changed = { id: user.id, role: 'moderator', reputation: -2.5, isVerified: true };
    expect(await update(...given)).toMatchObject([changed]);
    expect(await update('--verified', 'no')).toMatchObject([{ ...changed, isVerified: false }]);
    const about = [user.id, '--project', id];
    const text = await done('users', 'update', ...about, '--verified', 'yes');
    expect(text).toMatch(
      /^id .* {2}role +reputation {2}verified {2}created .*\n.* {2}moderator {2}-2\.5 +yes {2}/,
    );
    expect(await done('users', 'list', '--project', id)).not.toContain('reputation');
    for (const words of [about, [...about, '--reputation', 'much'], [...about, '--verified', 'maybe']]) {
      const said = await runKith(['users', 'update', ...words], accessOf(platform));
      expect([said.code, said.stderr]).toEqual([
        2,
        expect.stringMatching(/^kith: .*See kith users update --help\.\n$/),
      ]);
    }
  });

  it('suspends a user for a limited time, sets a password, and lists and ends sessions', async () => {
    const { id } = await platform.createProject();
    const user = await platform.createUser(id);
    const about = [user.id, '--project', id];
    const said = ['--until', '2999-01-01T00:00:00Z', '--reason', 'spam'];
    const [suspended] = await json<ProjectUser[]>('users', 'suspend', ...about, ...said);
    expect(suspended?.suspension).toMatchObject({ until: '2999-01-01T00:00:00.000Z', reason: 'spam' });
    expect(await done('users', 'list', '--project', id)).toContain('suspended until 2999-01-01');
    await done('users', 'restore', ...about);
    await writeFile(join(folder, 'password'), 'told by the operator\n');
    await done('users', 'set-password', ...about, '--password-file', 'password');
    const body = { email: user.email, password: 'told by the operator' };
    await platform.call('POST', `/v7/${id}/auth/sign-in`, { body });
    expect(await json('users', 'sessions', ...about)).toMatchObject([{ id: expect.any(String) }]);
    expect(await json('users', 'end-sessions', ...about)).toEqual([{ id: user.id, sessions: 'ended' }]);
    expect(await json('users', 'sessions', ...about)).toEqual([]);
    const missing = await runKith(['users', 'set-password', ...about, '--password-file', 'none'], {
      ...accessOf(platform),
      KITH_CWD: folder,
    });
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('There is no file')]);
  });

  it('reads a password from the first line of the standard input, even if the input is non-blocking and stays open', async () => {
    const user = await platform.createUser();
    const about = [user.id, '--project', user.projectId];
    // One socket is input and output of the command, as in ssh without a terminal. The output makes the socket non-blocking.
    const server = createServer().listen(join(folder, 'socket'));
    await once(server, 'listening');
    const socket = connect(join(folder, 'socket'));
    const [other] = await once(server, 'connection');
    const child = spawn(process.execPath, [main, 'users', 'set-password', ...about, '--password-file', '-'], {
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCache(), ...accessOf(platform) },
      stdio: [socket, socket, 'pipe'],
    });
    socket.destroy();
    other.resume().write('told on the input\r\nand another line\n');
    const [said, [code]] = await Promise.all([textOf(child.stderr!), once(child, 'exit')]);
    other.destroy();
    server.close();
    expect([said, code]).toEqual(['', 0]);
    const body = { email: user.email, password: 'told on the input' };
    await platform.call('POST', `/v7/${user.projectId}/auth/sign-in`, { body });
  });

  it('looks for a token’s file in the folder where the command is typed', async () => {
    await writeFile(join(folder, 'token'), `${platform.operatorToken}\n`, { mode: 0o600 });
    const env = { KITH_URL: platform.url, OPERATOR_TOKEN_FILE: 'token', KITH_CWD: folder };
    const said = await runKith(['projects', 'list'], env);
    expect([said.code, said.stderr]).toEqual([0, '']);
  });

  it('rotates keys', async () => {
    const keys = await json<{ state: string }[]>('keys', 'rotate');
    // Other suites on this platform may have rotated the keys before, so there may be several former keys.
    const [newest, next, ...former] = keys.map(({ state }) => state);
    expect([newest, next]).toEqual(['published', 'signing']);
    expect(former).toEqual(former.map(() => 'verifying'));
  });

  it('revokes a key, and reports an unknown key', async () => {
    const [waiting, ...others] = await json<{ kid: string; state: string }[]>('keys', 'rotate');
    expect(waiting?.state).toBe('published');
    expect(await json('keys', 'revoke', waiting!.kid)).toEqual(others);
    const said = await runKith(['keys', 'revoke', 'made-up'], { ...accessOf(platform), KITH_CWD: folder });
    expect([said.code, said.stderr]).toEqual([1, expect.stringContaining('No such key.')]);
  });

  it('fails with one sentence and the code 1, or the code 2 for wrong usage', async () => {
    const cases: [number, RegExp, string[], NodeJS.ProcessEnv?][] = [
      [2, /^kith: Name a command\.\n {2}kith start/, []],
      [
        2,
        /^kith: Name a command of "kith keys"\.\n {2}kith keys rotate .*\n {2}kith keys revoke .*\n\nSee kith --help\.\n$/,
        ['keys'],
      ],
      [2, /^kith: There is no such command\.\n {2}kith projects create/, ['projects', 'destroy']],
      [2, /^kith: There is no such command\. Did you mean kith start\? See kith --help\.\n$/, ['strat']],
      [2, /^kith: There is no such command\. Did you mean kith projects list\?/, ['project', 'lst']],
      [2, /^kith: There is no such command\. Did you mean kith dead-letters\?/, ['deadletter']],
      [2, /^kith: --name is needed\. See kith projects create --help\.\n$/, ['projects', 'create']],
      [
        2,
        /^kith: Unknown option '--nam'\. Did you mean --name\? See kith projects create --help\.\n$/,
        ['projects', 'create', '--nam', 'x'],
      ],
      [
        2,
        /^kith: Unknown option '--zzz'\. See kith projects list --help\.\n$/,
        ['projects', 'list', '--zzz'],
      ],
      [2, /^kith: Name the project id\. See kith projects show --help\.\n$/, ['projects', 'show']],
      [
        2,
        /^kith: Unexpected argument: more\. See kith projects list --help\.\n$/,
        ['projects', 'list', 'more'],
      ],
      [
        2,
        /^kith: --public-profiles must be card or all or none\. See kith projects create --help\.\n$/,
        ['projects', 'create', '--name', 'x', '--public-profiles', '1'],
      ],
      [1, /^kith: There is no project nonsense\.\n$/, ['projects', 'show', 'nonsense']],
      [1, /^kith: There is no project nonsense\.\n$/, ['users', 'list', '--project', 'nonsense']],
      [
        1,
        /^kith: There is no user nobody in the project nonsense\.\n$/,
        ['users', 'suspend', 'nobody', '--project', 'nonsense'],
      ],
      [
        1,
        /^kith: There is no file .*\/nothing\.pem\.\n$/,
        ['projects', 'create', '--name', 'x', '--public-key', 'nothing.pem'],
      ],
      [
        1,
        /^kith: \S+ is a folder; a file is needed\.\n$/,
        ['projects', 'update', 'x', '--public-key', folder],
      ],
      [
        1,
        /^kith: --public-key must [^\n]* \(project\/invalid-body\)\n$/,
        ['projects', 'create', '--name', 'x', '--public-key', 'bad.pem'],
      ],
      [
        1,
        /^kith: --web-origin nonsense must [^\n]* \(project\/invalid-body\)\n$/,
        [
          'projects',
          'create',
          '--name',
          'x',
          '--web-origin',
          'https://a.example',
          '--web-origin',
          'nonsense',
        ],
      ],
      [
        1,
        /^kith: --limit identity\.sign-in\.max must [^\n]* \(project\/invalid-body\)\n$/,
        ['projects', 'create', '--name', 'x', '--limit', 'identity.sign-in=0/60'],
      ],
      [
        1,
        /^kith: --scope user:read must [^\n]* \(auth\/invalid-body\)\n$/,
        ['operators', 'create', '--name', 'x', '--scope', 'user:read'],
      ],
      [
        1,
        /^kith: --project must name projects of this server\. \(auth\/invalid-body\)\n$/,
        ['operators', 'create', '--name', 'x', '--scope', 'users:read', '--project', randomUUID()],
      ],
      [
        1,
        /^kith: --expires must be in the future\. \(auth\/invalid-body\)\n$/,
        ['operators', 'create', '--name', 'x', '--scope', 'users:read', '--expires', '2001-01-01T00:00:00Z'],
      ],
      [
        1,
        /^kith: The operator’s token is not accepted\.\n$/,
        ['projects', 'list'],
        { OPERATOR_TOKEN: 'wrong' },
      ],
      [
        1,
        /^kith: The operator’s token is needed: .*\n$/,
        ['projects', 'list'],
        { OPERATOR_TOKEN: '', KITH_DATA: folder },
      ],
      [
        1,
        /^kith: The gateway at http:\/\/127\.0\.0\.1:9 does not answer\.\n$/,
        ['projects', 'list'],
        { KITH_URL: 'http://127.0.0.1:9' },
      ],
    ];
    await writeFile(join(folder, 'bad.pem'), 'nonsense');
    for (const [code, sentence, words, env] of cases) {
      const said = await runKith(words, { ...accessOf(platform), KITH_CWD: folder, ...env });
      expect([words, said.code, said.stdout]).toEqual([words, code, '']);
      expect(said.stderr).toMatch(sentence);
    }
  });
});

describe('kith', () => {
  it('has a help text for itself, every group and every command', async () => {
    const { stdout, code } = await kith(['--help'], {});
    expect(code).toBe(0);
    const names = [...stdout.matchAll(/^ {2}kith ([a-z -]+?) {2}/gm)].map(([, name]) => name?.trim() ?? '');
    expect(names).toEqual(commands.map(({ name }) => name));
    const told = async (...words: string[]) => {
      const said = await runKith(words, {});
      expect([words, said.code, said.stderr]).toEqual([words, 0, '']);
      return said.stdout;
    };
    expect(await told('help')).toBe(stdout);
    for (const name of names) {
      const help = await told(...name.split(' '), '--help');
      expect(help.startsWith(`kith ${name}`), name).toBe(true);
      expect(await told('help', ...name.split(' '))).toBe(help);
      // `stdout` is the general help. It has to list each variable that this command reads, with a description.
      const read = [...help.matchAll(/^ {2}([A-Z_]+) +\S.*$/gm)];
      expect(read.length > 0, name).toBe(name !== 'completion');
      for (const [, variable] of read) expect(stdout).toMatch(new RegExp(`^ {2}${variable} {2,}\\S`, 'm'));
    }
    for (const variable of ['KITH_URL', 'OPERATOR_TOKEN', 'KITH_DATA', 'MONGODB_URL', 'NATS_URL'])
      expect(stdout).toContain(`\n  ${variable} `);
    for (const group of ['keys', 'projects', 'users', 'dead-letters']) {
      const help = await told(group, '--help');
      const of = names.filter((name) => name.startsWith(`${group} `));
      expect([...help.matchAll(/^ {2}kith ([a-z -]+?) {2}/gm)].map(([, name]) => name?.trim())).toEqual(of);
    }
    expect(await told('--version')).toBe(`kith ${about.version}\n`);
  }, 60_000);

  it.each([
    ['main', main],
    ['bootstrap', join(root, about.bin.kith)],
  ])('ends quietly if nobody reads its output (%s)', async (_, file) => {
    const child = spawn(process.execPath, [file, 'stop', '--help'], { stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = once(child, 'exit');
    child.stdout.destroy();
    expect([await textOf(child.stderr), ...(await ended)]).toEqual(['', 141, null]);
  });

  it('is the program that npx runs in a clone, both before and after the packages are installed', () => {
    const own = JSON.parse(readFileSync(join(root, 'apps/kith/package.json'), 'utf8'));
    expect(about.bin).toEqual({ kith: join('apps/kith', own.bin.kith) });
    expect(existsSync(join(root, about.bin.kith))).toBe(true);
  });

  it('for a request to a running platform, loads no service, no database driver and no bus', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'kith-cli-'));
    const file = join(folder.path, 'modules');
    const said = await kith(['projects', 'list'], {
      NODE_OPTIONS: `--import ${join(root, 'tests/support/record-modules.mjs')}`,
      KITH_TEST_MODULES: file,
      KITH_URL: 'http://127.0.0.1:9',
      OPERATOR_TOKEN: 'any',
    });
    expect([said.code, said.stderr]).toEqual([
      1,
      'kith: The gateway at http://127.0.0.1:9 does not answer.\n',
    ]);
    const modules = (await readFile(file, 'utf8')).split('\n');
    expect(modules.filter((url) => url.includes('/apps/kith/src/cli/commands/')).length).toBeGreaterThan(12);
    expect(modules.filter((url) => /\/services\/|\/(mongodb|pino|nats-core)\//.test(url))).toEqual([]);
  });

  it('lists and replays the dead letters of an embedded installation that is stopped', async () => {
    const data = await mkdtemp(join(tmpdir(), 'kith-cli-'));
    const folder = openDataFolder(data);
    const bus = new InProcessBus({
      prefix: 'kith',
      file: folder.file('events.sqlite'),
      log: createLogger({ name: 'test', level: 'silent' }),
    });
    const intake = await bus.consume(
      { durable: 'test-all', subjects: ['kith.event.>'], maxDeliveries: 1 },
      async () => {
        throw new Error('not today');
      },
    );
    const body = new TextEncoder().encode(JSON.stringify({ id: 'one' }));
    const subject = 'kith.event.p.user.created';
    await bus.publish({ subject, id: 'one', body });
    await bus.publish({ subject, id: 'two', body: new TextEncoder().encode('no JSON') });
    await waitFor(async () => (await bus.deadLetters('test-all')).length === 2);
    const busy = await runKith(['dead-letters', 'list', 'test-all'], { KITH_DATA: data });
    expect([busy.code, busy.stderr]).toEqual([1, expect.stringContaining('uses the data folder')]);
    await intake.drain();
    await bus.close();
    folder.release();
    const letters = await runKith(['dead-letters', 'list', 'test-all'], { KITH_DATA: data });
    const error = 'Error: not today';
    expect(
      letters.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { subject, error, event: { id: 'one' } },
      { subject, error, event: 'no JSON' },
    ]);
    const replayed = await runKith(['dead-letters', 'replay', 'test-all'], { KITH_DATA: data });
    expect(replayed.stdout).toBe('2 published again\n');
    const misspelt = await runKith(['dead-letters', 'list', 'connection-profiles'], { KITH_DATA: data });
    const said = 'kith: There is no consumer connection-profiles. Did you mean connections-profiles?\n';
    expect([misspelt.code, misspelt.stderr]).toEqual([1, said]);
    const elsewhere = join(data, 'elsewhere');
    const wrong = await runKith(['dead-letters', 'replay', 'test-all'], { KITH_DATA: elsewhere });
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('no embedded installation in')]);
    expect(existsSync(elsewhere)).toBe(false);
    await rm(data, { recursive: true, force: true });
  });
});
