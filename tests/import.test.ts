import { randomBytes, scryptSync } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Connection, Session } from '@kith/contracts';
import { availableEngines, startPlatform, type TestPlatform, waitFor } from '@kith/testing';
import { hashSync } from 'bcryptjs';
import { MongoClient } from 'mongodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accessOf, kith, startKith } from './support/command.ts';

const at = (row: number) => new Date(1_600_000_000_000 + row * 1000).toISOString();

describe.each(availableEngines())('kith import (%s)', (engine) => {
  let platform: TestPlatform;
  let projectId: string;
  let folder: string;
  beforeAll(async () => {
    platform = await startPlatform({ engine });
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
  const run = (given: string[]) => kith(given, env());
  const counts = (stdout: string) =>
    (JSON.parse(stdout) as Record<string, unknown>[]).map(({ kind, imported, unchanged, rejected }) => ({
      ...{ kind, imported, unchanged, rejected },
    }));
  const signIn = (email: string, password: string) =>
    platform.call<Session>('POST', `/v7/${projectId}/auth/sign-in`, { body: { email, password } });
  const asked = <T>(path: string, token: string) =>
    platform.call<T>('GET', `/v7/${projectId}${path}`, { token });

  it('brings a whole back end in, and people go on with the passwords they had', async () => {
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
    expect(counts(first.stdout)).toEqual(
      [4, 2, 2, 2].map((imported, index) => ({ kind: all[index], imported, unchanged: 0, rejected: 0 })),
    );

    for (const name of names) {
      expect(await storedHash(platform, `${name}@example.com`)).toContain(hashes[name]);
      const { user } = await signIn(`${name}@example.com`, password);
      expect(user).toMatchObject({
        foreignId: name,
        name: `Ärztin ${name}`,
        createdAt: at(names.indexOf(name)),
      });
      // Ours is in its place now, and opens the account as well.
      expect(await storedHash(platform, `${name}@example.com`)).toMatch(
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
    // A search looks into the copies of profiles alone.
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

    // What was imported goes on like everything else.
    await platform.call('PATCH', `/v7/${projectId}/connections/${requests[0]!.id}/accept`, { token });
    expect(await asked('/connections/count', token)).toEqual({ count: 2 });
    await platform.call('PATCH', `/v7/${projectId}/users/${connections[0]!.connectedUser.id}`, {
      token: (await signIn('php@example.com', password)).accessToken,
      body: { name: 'Another' },
    });

    const again = await run([...words(...all), '--restart']);
    expect(again.code).toBe(0);
    expect(counts(again.stdout)).toEqual(
      [4, 2, 2, 2].map((unchanged, index) => ({ kind: all[index], imported: 0, unchanged, rejected: 0 })),
    );
    expect(await asked('/connections/count', token)).toEqual({ count: 2 });
    expect(await storedHash(platform, 'bcrypt@example.com')).toMatch(/^\$argon2id/);
  });

  it('names the lines that it can not import, without what stands in them', async () => {
    const secret = `$2b$99$${'s'.repeat(53)}`;
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
    ]);
    const said = await run(words('users'));
    expect(said.code).toBe(1);
    expect(counts(said.stdout)).toEqual([{ kind: 'users', imported: 2, unchanged: 0, rejected: 6 }]);
    const file = join(folder, 'users.jsonl.rejected.jsonl');
    const text = await readFile(file, 'utf8');
    expect(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { line: 2, reason: 'The line is no JSON in UTF-8.' },
      { line: 3, reason: 'email: It must be an e-mail address.' },
      { line: 4, reason: 'foreignId: foreignId or id is needed.' },
      { line: 5, reason: 'passwordHash: It is too costly to verify.' },
      { line: 7, reason: 'email-taken' },
      { line: 8, reason: 'Invalid input: expected object, received array' },
    ]);
    for (const name of (await readdir(folder)).filter((one) => one !== 'users.jsonl')) {
      expect((await stat(join(folder, name))).mode & 0o777, name).toBe(0o600);
      expect(await readFile(join(folder, name), 'utf8')).not.toMatch(/secret|sss|@example/);
    }
    expect(said.stdout + said.stderr + (await platform.logs())).not.toMatch(/sss/);
  });

  it('goes on where it was killed, and comes to the same', async () => {
    const count = 6_000;
    const rows = Array.from({ length: count }, (_, row) => row);
    await write(
      'users',
      rows.map((row) => ({ foreignId: `u${row}`, username: `user.${row}`, createdAt: at(row) })),
    );
    await write(
      'connections',
      rows.map((row) => ({
        requesterForeignId: `u${row % 50}`,
        receiverForeignId: `u${50 + (row % 3_000)}`,
        requestedAt: at(row),
      })),
    );
    const stateOf = async (name: string) => {
      const text = await readFile(join(folder, `${name}.jsonl.kith-import.json`), 'utf8').catch(() => '{}');
      return JSON.parse(text) as { line?: number; imported?: number };
    };
    // Each try is killed as soon as the file has come further than the one before.
    let killed = 0;
    for (const name of ['users', 'connections']) {
      for (let reached = 0; reached < count / 2; ) {
        const running = startKith(words('users', 'connections'), env());
        const line = await waitFor(
          async () => {
            const { line: now = 0 } = await stateOf(name);
            return now > reached && now;
          },
          { what: `progress in ${name}`, timeoutMs: 60_000 },
        );
        running.kill();
        if ((await running.ended).code === null) killed++;
        reached = line;
      }
    }
    expect(killed).toBeGreaterThan(2);
    const last = await run(words('users', 'connections'));
    const [users, connections] = counts(last.stdout) as {
      imported: number;
      unchanged: number;
      rejected: number;
    }[];
    expect(users!.imported + users!.unchanged).toBe(count);
    const distinct = new Set(rows.map((row) => `${row % 50}|${50 + (row % 3_000)}`)).size;
    expect(connections!.imported + connections!.unchanged).toBe(count);
    expect(connections!.rejected).toBe(0);

    const found = await platform.call<{ pagination: { totalItems: number } }>(
      'GET',
      `/admin/projects/${projectId}/users?limit=1`,
      { token: platform.operatorToken },
    );
    expect(found.pagination.totalItems).toBe(count);
    let listed = 0;
    for (let user = 0; user < 50; user++) {
      const { id } = await asked<{ id: string }>(`/users/by-foreign-id?foreignId=u${user}`, '');
      const list = await asked<{ pagination: { totalCount: number } }>(
        `/users/${id}/connections?limit=1`,
        '',
      );
      listed += list.pagination.totalCount;
      const all = await asked<{ connections: unknown[] }>(`/users/${id}/connections?limit=100`, '');
      expect(all.connections).toHaveLength(Math.min(list.pagination.totalCount, 100));
    }
    expect(listed).toBe(distinct);
  }, 240_000);
});

/** What is stored of a user's password. */
async function storedHash({ engines, prefix, dataFolder }: TestPlatform, email: string): Promise<unknown> {
  if (!engines) {
    using db = new DatabaseSync(join(dataFolder, 'identity.sqlite'), { timeout: 5_000 });
    return db.prepare('SELECT passwordHash FROM users WHERE email = ?').get(email)?.passwordHash;
  }
  await using client = new MongoClient(engines.mongodbUrl);
  return (await client.db(`${prefix}_identity`).collection('users').findOne({ email }))?.passwordHash;
}
