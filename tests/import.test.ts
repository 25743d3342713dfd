// Starts at most 2 platforms and 11 processes.
import { randomBytes, randomUUID, scryptSync } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Connection, OperatorScope, Session } from '@kith/contracts';
import { handlerEngines, sharedPlatform, smallPng, type TestPlatform } from '@kith/testing';
import { hashSync } from 'bcryptjs';
import { MongoClient } from 'mongodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accessOf, longResult, runKith, type Said } from './support/command.ts';
import { expectDeepImport } from './support/deep-import.ts';
import { expectKilledImportToEndAlike, importProgress } from './support/killed-import.ts';
import { operatorKey } from './support/surface/guards.ts';

const at = (row: number) => new Date(1_600_000_000_000 + row * 1000).toISOString();

describe.each(handlerEngines())('kith import (%s)', (engine) => {
  let platform: TestPlatform;
  let projectId: string;
  let folder: string;
  beforeAll(async () => {
    platform = await sharedPlatform(engine);
  });
  afterAll(() => platform.stop());
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kith-import-'));
    projectId = (await platform.createProject()).id;
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const write = async (name: string, rows: readonly unknown[]) => {
    const lines = rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row)));
    await writeFile(join(folder, `${name}.jsonl`), `${lines.join('\n')}\n`);
  };
  const words = (...names: string[]) => [
    ...['import', '--project', projectId, '--json'],
    ...names.flatMap((name) => [`--${name}`, `${name}.jsonl`]),
  ];
  const env = () => ({ ...accessOf(platform), KITH_CWD: folder });
  const run = (given: string[]) => runKith(given, env());
  const filesOf = (said: Said) => longResult<{ files: Record<string, unknown>[] }>(said).files;
  const counts = (said: Said) =>
    filesOf(said).map(({ kind, imported, unchanged, rejected }) => ({
      ...{ kind, imported, unchanged, rejected },
    }));
  const rejectedOf = async (name: string) => {
    const text = await readFile(join(folder, `${name}.jsonl.rejected.jsonl`), 'utf8');
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line));
  };
  const signIn = (email: string, password: string) =>
    platform.call<Session>('POST', `/v7/${projectId}/auth/sign-in`, { body: { email, password } });
  const asked = <T>(path: string, token: string) =>
    platform.call<T>('GET', `/v7/${projectId}${path}`, { token });

  it('imports files from the paths in their lines, but no files outside of the folder', async () => {
    await write('users', [{ foreignId: '1', email: 'ada@example.org' }]);
    await mkdir(join(folder, 'bytes'));
    await writeFile(join(folder, 'bytes/notes.txt'), 'notes');
    await writeFile(join(folder, 'bytes/ada.png'), smallPng);
    await writeFile(join(folder, 'bytes/long'), Buffer.alloc(50 * 1024 * 1024 + 1));
    const outside = await mkdtemp(join(tmpdir(), 'kith-import-'));
    await writeFile(join(outside, 'secret'), 'secret');
    await symlink(join(outside, 'secret'), join(folder, 'bytes/link'));
    const row = (path: string, more = {}) => ({
      ...{ userForeignId: '1', id: randomUUID(), path, createdAt: at(1), ...more },
    });
    const [notes, picture] = [row('bytes/notes.txt', { name: 'Notes "1".txt' }), row('bytes/ada.png')];
    const sizes = { small: 8 };
    await write('files', [
      notes,
      { ...picture, kind: 'image', sizes, quality: 70 },
      { ...row('bytes/notes.txt'), kind: 'image' },
      row('bytes/none'),
      row('bytes'),
      row('bytes/long'),
      row('bytes/link'),
      row(`../${basename(outside)}/secret`),
      { ...row('bytes/notes.txt'), sizes: { Small: 0 } },
      { ...row('bytes/notes.txt'), userForeignId: '2' },
      notes,
    ]);
    const said = await run(words('users', 'files'));
    expect(said.code).toBe(1);
    expect(counts(said)[1]).toEqual({ kind: 'files', imported: 2, unchanged: 1, rejected: 8 });
    const reasons = [
      'invalid-image',
      'The file cannot be read: ENOENT.',
      'path is not a file.',
      'The file is larger than 50 MiB.',
      'path must be below the folder of this file.',
      'path must be below the folder of this file.',
      expect.stringContaining('sizes'),
      'user-not-found',
    ];
    expect(await rejectedOf('files')).toEqual(reasons.map((reason, at) => ({ line: at + 3, reason })));
    const again = await run([...words('files'), '--restart']);
    expect(counts(again)).toEqual([{ kind: 'files', imported: 0, unchanged: 3, rejected: 8 }]);
    const bytes = async (path: string) => fetch(`${platform.url}/v7/${projectId}/storage/files/${path}`);
    const got = await bytes(notes.id);
    expect(await got.text()).toBe('notes');
    expect(got.headers.get('content-disposition')).toContain('Notes');
    expect((await bytes(`${picture.id}/small`)).headers.get('content-type')).toBe('image/png');
    await rm(outside, { recursive: true });
  });

  it('imports files with any name', async () => {
    await write('users', [{ foreignId: '1', email: 'ada@example.org' }]);
    await mkdir(join(folder, 'bytes'));
    await writeFile(join(folder, 'bytes/back\\'), 'bytes');
    const row = (more = {}) => ({
      ...{ userForeignId: '1', id: randomUUID(), path: 'bytes/back\\', createdAt: at(1), ...more },
    });
    const rows = [row(), row({ name: 'a\u0001\tb.txt' }), row({ name: '\u0001' }), row({ name: '"c"' })];
    await write('files', rows);
    expect(counts(await run(words('users', 'files')))[1]).toMatchObject({ imported: 4, rejected: 0 });
    const names = await Promise.all(
      rows.map(async ({ id }) => {
        const { headers } = await fetch(`${platform.url}/v7/${projectId}/storage/files/${id}`);
        return decodeURIComponent(headers.get('content-disposition')?.split("UTF-8''")[1] ?? '');
      }),
    );
    expect(names).toEqual(['back', 'ab.txt', 'file', '"c"']);
    expect(counts(await run([...words('files'), '--restart']))[0]).toMatchObject({ unchanged: 4 });
  });

  it('accepts an operator key that is limited to the project, and refuses an operator key of another project before it writes anything', async () => {
    const scopes: OperatorScope[] = ['projects:read', 'projects:write'];
    const key = await operatorKey({ platform }, { scopes, projectIds: [projectId] });
    const other = await platform.createProject();
    const foreign = await operatorKey({ platform }, { scopes, projectIds: [other.id] });
    const password = 'correct horse battery';
    const [ada, grace] = ['ada', 'grace'].map((username, at) => ({
      ...{ foreignId: String(at), email: `${username}@example.org`, username },
      passwordHash: hashSync(password, 4),
    }));
    await write('users', [ada, grace]);
    await write('connections', [
      { requesterForeignId: '0', receiverForeignId: '1', requestedAt: at(1), connectedAt: at(2) },
    ]);
    const runAs = (token: string) =>
      runKith(words('users', 'connections'), { ...env(), OPERATOR_TOKEN: token });
    const refused = await runAs(foreign);
    const message = 'This operator key is for other projects. (auth/forbidden)';
    expect([refused.code, JSON.parse(refused.stderr)]).toEqual([
      1,
      { error: { code: 'auth/forbidden', message } },
    ]);
    expect(await readdir(folder)).toEqual(['connections.jsonl', 'users.jsonl']);

    const said = await runAs(key);
    expect([said.code, said.stderr]).toEqual([0, '']);
    expect(counts(said)).toEqual([
      { kind: 'users', imported: 2, unchanged: 0, rejected: 0 },
      { kind: 'connections', imported: 1, unchanged: 0, rejected: 0 },
    ]);
    const { accessToken } = await signIn('ada@example.org', password);
    // A search reads only the copies of profiles that the connections service keeps. So this result shows that the import made
    // the copies.
    const { connections } = await asked<{ connections: Connection[] }>(
      '/connections?query=grace',
      accessToken,
    );
    expect(connections.map(({ connectedUser }) => connectedUser.foreignId)).toEqual(['1']);
  });

  it('imports a complete backend, and people sign in with their old passwords', async () => {
    const password = 'correct horse battery';
    const salt = randomBytes(16);
    const b64 = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
    const scrypted = scryptSync(password, salt, 32, { N: 2 ** 12, r: 8, p: 1 });
    const hashes = {
      bcrypt: hashSync(password, 5),
      php: hashSync(password, 5).replace(/^\$2b/, '$2y'),
      scrypt: `$scrypt$ln=12,r=8,p=1$${b64(salt)}$${b64(scrypted)}`,
    };
    const names = Object.keys(hashes) as (keyof typeof hashes)[];
    await write('users', [
      ...names.map((name, row) => ({
        foreignId: name,
        email: `${name}@example.com`,
        username: `user.${name}`,
        name: `Ärztin ${name}`,
        passwordHash: hashes[name],
        createdAt: at(row),
      })),
      { foreignId: 'none', email: 'none@example.com' },
    ]);
    await write('connections', [
      {
        requesterForeignId: 'bcrypt',
        receiverForeignId: 'php',
        message: 'Hi',
        requestedAt: at(1),
        connectedAt: at(2),
      },
      { requesterForeignId: 'scrypt', receiverForeignId: 'bcrypt', state: 'pending', requestedAt: at(3) },
    ]);
    await write('collections', [
      { userForeignId: 'bcrypt', id: '1', name: 'Books', createdAt: at(4) },
      { userForeignId: 'bcrypt', id: '2', parentId: '1', name: 'Novels', createdAt: at(5) },
    ]);
    await write('entities', [
      {
        userForeignId: 'bcrypt',
        collectionId: '2',
        entityId: 'moby-dick',
        addedAt: at(6),
        metadata: { page: 3 },
      },
      { userForeignId: 'bcrypt', entityId: 'in-the-root', addedAt: at(7) },
    ]);
    const all = ['users', 'connections', 'collections', 'entities'];
    const first = await run(words(...all));
    expect([first.code, first.stderr]).toEqual([0, '']);
    expect(counts(first)).toEqual(
      [4, 2, 2, 2].map((imported, index) => ({ kind: all[index], imported, unchanged: 0, rejected: 0 })),
    );

    for (const name of names) {
      expect(await storedHash(platform, projectId, `${name}@example.com`)).toContain(hashes[name]);
      const { user } = await signIn(`${name}@example.com`, password);
      expect(user).toMatchObject({
        foreignId: name,
        name: `Ärztin ${name}`,
        createdAt: at(names.indexOf(name)),
      });
      // The platform has replaced the imported hash by a hash of its own kind. The same password still signs in.
      expect(await storedHash(platform, projectId, `${name}@example.com`)).toMatch(
        /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/,
      );
      await signIn(`${name}@example.com`, password);
      const wrong = signIn(`${name}@example.com`, `${password}!`);
      await expect(wrong).rejects.toMatchObject({ code: 'auth/invalid-credentials' });
    }
    for (const email of ['none@example.com', 'unknown@example.com']) {
      await expect(signIn(email, password)).rejects.toMatchObject({ code: 'auth/invalid-credentials' });
    }

    const { accessToken: token } = await signIn('bcrypt@example.com', password);
    // A search reads only the copies of profiles that the connections service keeps. So this result shows that the import made
    // the copies.
    const { connections } = await asked<{ connections: Connection[] }>('/connections?query=ARZTIN', token);
    expect(connections).toMatchObject([
      { message: 'Hi', requestedAt: at(1), connectedAt: at(2), connectedUser: { foreignId: 'php' } },
    ]);
    const { requests } = await asked<{ requests: { id: string }[] }>('/connections/pending/received', token);
    expect(requests).toMatchObject([{ type: 'received', createdAt: at(3) }]);
    const saved = await asked<{ collections: { name: string }[] }>(
      '/entities/is-entity-saved?entityId=moby-dick',
      token,
    );
    expect(saved.collections.map(({ name }) => name)).toEqual(['Novels']);
    expect(await asked('/app-notifications/count', token)).toBe(0);
    // The notifications service has the profiles, too, so that it can notify while identity is away.
    const [users, profiles] = await Promise.all([
      storedIn(platform, { service: 'identity', collection: 'users', projectId }),
      storedIn(platform, { service: 'notifications', collection: 'profiles', projectId }),
    ]);
    expect(profiles).toHaveLength(users.length);
    expect(users.length).toBeGreaterThan(1);

    // Imported data can be changed like all other data.
    await platform.call('PATCH', `/v7/${projectId}/connections/${requests[0]!.id}/accept`, { token });
    expect(await asked('/connections/count', token)).toEqual({ count: 2 });
    await platform.call('PATCH', `/v7/${projectId}/users/${connections[0]!.connectedUser.id}`, {
      token: (await signIn('php@example.com', password)).accessToken,
      body: { name: 'Another' },
    });

    // If a row has changed since its import, a second import leaves it as it is and rejects the line.
    const again = await run([...words(...all), '--restart']);
    expect(again.code).toBe(1);
    expect(counts(again)).toEqual(
      [3, 1, 2, 2].map((unchanged, index) => ({
        ...{ kind: all[index], imported: 0, unchanged, rejected: index < 2 ? 1 : 0 },
      })),
    );
    expect(await rejectedOf('users')).toEqual([{ line: 2, reason: 'conflict', fields: ['name'] }]);
    expect(await rejectedOf('connections')).toEqual([
      { line: 2, reason: 'conflict', fields: expect.arrayContaining(['state']) },
    ]);
    expect(await asked('/connections/count', token)).toEqual({ count: 2 });
    // Fields that a row leaves out are not compared.
    await write('connections', [
      { requesterForeignId: 'bcrypt', receiverForeignId: 'php', requestedAt: at(1) },
    ]);
    const shorter = await run([...words('connections'), '--restart']);
    expect(counts(shorter)).toEqual([{ kind: 'connections', imported: 0, unchanged: 1, rejected: 0 }]);
    expect(await storedHash(platform, projectId, 'bcrypt@example.com')).toMatch(/^\$argon2id/);
  });

  it('names the lines that it cannot import, but does not print the content of these lines', async () => {
    const secret = `$2b$99$${'Secret'.repeat(9).slice(1)}`;
    await write('users', [
      { foreignId: '1', email: 'one@example.com' },
      'nonsense with a secret',
      { foreignId: '2', email: 'no address' },
      { email: 'two@example.com' },
      { foreignId: '3', passwordHash: secret },
      '',
      { foreignId: '4', email: 'ONE@example.com' },
      '[]',
      { foreignId: '5' },
      { foreignId: '6', password_hash: 'SecretSecret' },
    ]);
    const said = await run(words('users'));
    expect(said.code).toBe(1);
    expect(counts(said)).toEqual([{ kind: 'users', imported: 2, unchanged: 0, rejected: 7 }]);
    expect(await rejectedOf('users')).toEqual([
      { line: 2, reason: 'The line is not JSON in UTF-8.' },
      { line: 3, reason: 'email must be an e-mail address.' },
      { line: 4, reason: 'Give foreignId or id.' },
      { line: 5, reason: 'passwordHash is too costly to verify.' },
      { line: 7, reason: 'email-taken' },
      { line: 8, reason: 'Each line must be a JSON object.' },
      { line: 10, reason: 'password_hash is not a field of a row; it may be passwordHash.' },
    ]);
    for (const name of (await readdir(folder)).filter((one) => one !== 'users.jsonl')) {
      expect((await stat(join(folder, name))).mode & 0o777, name).toBe(0o600);
      expect(await readFile(join(folder, name), 'utf8')).not.toMatch(/secret|@example/i);
    }
    expect(said.stdout + said.stderr).not.toMatch(/secret/i);
    expect((await platform.logs()).includes('SecretSecret')).toBe(false);
  });

  it('counts the rows of this run and of all runs, and says where the rejected lines are', async () => {
    const rejectedFile = join(folder, 'users.jsonl.rejected.jsonl');
    const rows = [{ foreignId: '1' }, { foreignId: '2', email: 'bad' }];
    await write('users', rows);
    await write('connections', [{ requesterForeignId: '1' }, '[1,2]']);
    const tell = async () => {
      const said = await run(['import', '--project', projectId, '--users', 'users.jsonl']);
      return { ...said, lines: said.stdout.trimEnd().split('\n') };
    };
    const first = await tell();
    const refusal = `kith: Rejected lines: 1; the reasons are in ${rejectedFile}.\n`;
    expect([first.code, first.lines.length, first.stderr]).toEqual([1, 2, expect.stringContaining(refusal)]);
    expect(first.stderr.replace(refusal, '')).toMatch(importProgress);
    expect(first.lines[1]).toMatch(/^users {2}2 {6}1 {9}0 {10}1 /);
    // The second run has nothing left to import, but reports the results of the whole file. Before the third run, a line is
    // added to the file.
    const second = await tell();
    expect([second.code, second.stderr]).toEqual([1, refusal]);
    expect(second.lines[1]).toMatch(/^users {2}0 {6}0 {9}0 {10}0 /);
    expect(second.lines.slice(2)).toEqual(['users, all runs: 2 lines, 1 imported, 0 unchanged, 1 rejected']);
    await write('users', [...rows, { foreignId: '3' }]);
    const grown = await run(words('users', 'connections'));
    const { error } = JSON.parse(grown.stderr);
    expect([grown.code, error.code]).toEqual([1, 'lines-rejected']);
    expect(filesOf(grown)).toMatchObject([
      {
        ...{
          kind: 'users',
          file: join(folder, 'users.jsonl'),
          lines: 1,
          imported: 1,
          unchanged: 0,
          rejected: 0,
        },
        inAll: { lines: 3, imported: 2, unchanged: 0, rejected: 1 },
        rejectedFile,
      },
      { kind: 'connections', rejected: 2, inAll: { rejected: 2 } },
    ]);
    expect(await rejectedOf('connections')).toEqual([
      { line: 1, reason: 'requestedAt is required.' },
      { line: 2, reason: 'Each line must be a JSON object.' },
    ]);
    // If no line is rejected, the import writes no file of rejected lines.
    await write('users', [{ foreignId: '1' }]);
    const clean = await run([...words('users'), '--restart']);
    expect([clean.code, filesOf(clean)[0]?.rejectedFile]).toEqual([0, null]);
    expect(await readdir(folder)).not.toContain('users.jsonl.rejected.jsonl');
  });

  it('refuses a path that is not a readable file, in one sentence', async () => {
    const cases: [string, string][] = [
      [folder, `kith: ${folder} is a folder; a file is needed.\n`],
      [join(folder, 'nothing'), `kith: There is no file ${join(folder, 'nothing')}.\n`],
      ['/dev/null', 'kith: /dev/null is not a regular file.\n'],
    ];
    for (const [file, sentence] of cases) {
      const { code, stderr } = await run(['import', '--project', projectId, '--users', file]);
      expect([code, stderr]).toEqual([1, sentence]);
    }
    const strange = randomUUID();
    await write('users', [{ foreignId: '1' }]);
    const nobody = await run(['import', '--project', strange, '--users', 'users.jsonl']);
    expect([nobody.code, nobody.stderr]).toEqual([1, `kith: There is no project ${strange}.\n`]);
  });

  it(
    'imports a tree of collections with several simultaneous requests, even if a level needs more than one request',
    () => expectDeepImport(platform, folder, { chains: 30, depth: 45, entities: 2_500 }),
    60_000,
  );

  it(
    'continues where it was killed, in the middle of a file or between two files, and gets the same result',
    () =>
      expectKilledImportToEndAlike(platform, folder, {
        lines: 400,
        askers: 10,
        // With lines of this width, the file takes 27 requests of 15 lines each. Eight requests run at the same time.
        width: 16_000,
        kills: [
          { of: 'users', request: 10, stage: 'asked' },
          { of: 'users', request: 10, stage: 'answered' },
          { of: 'copies', request: 1, stage: 'asked' },
          { of: 'connections', request: 10, stage: 'asked' },
          { of: 'connections', request: 10, stage: 'answered' },
        ],
      }),
    120_000,
  );
});

/** The stored hash of a user's password. */
async function storedHash(platform: TestPlatform, projectId: string, email: string): Promise<unknown> {
  const users = await storedIn(platform, { service: 'identity', collection: 'users', projectId });
  return users.find((user) => user.email === email)?.passwordHash;
}

/** The documents of a project in a collection of a service. */
async function storedIn(
  { engines, prefix, dataFolder }: TestPlatform,
  { service, collection, projectId }: { service: string; collection: string; projectId: string },
): Promise<Record<string, unknown>[]> {
  if (!engines) {
    using db = new DatabaseSync(join(dataFolder, `${service}.sqlite`), { timeout: 5_000 });
    const own = db
      .prepare(`SELECT doc FROM ${collection} WHERE id > ? AND id < ?`)
      .all(`${projectId}|`, `${projectId}}`);
    return own.map(({ doc }) => JSON.parse(String(doc)));
  }
  await using client = new MongoClient(engines.mongodbUrl);
  const all = client.db(`${prefix}_${service}`).collection<{ _id: string; d?: string }>(collection);
  const own = await all.find({ _id: { $gt: `${projectId}|`, $lt: `${projectId}}` } }).toArray();
  return own.map(({ d = '{}' }) => JSON.parse(d));
}
