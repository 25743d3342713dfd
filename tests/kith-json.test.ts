// Starts no platform and at most 3 processes.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OwnUser, operations, type Project, type StoredFile } from '@kith/contracts';
import { commands } from '@kith/platform/cli';
import { availableEngines, type Engines, eraseEngines, startEngines, uniquePrefix } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kith, runKith, type Said } from './support/command.ts';
import { type Started, startByKith } from './support/start-script.ts';

describe('--json', () => {
  let folder: string;
  let started: Started | undefined;
  let engines: Engines | undefined;
  const prefix = uniquePrefix();
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kith-json-'));
    if (availableEngines().includes('containers')) engines = await startEngines();
  });
  afterAll(async () => {
    await started?.[Symbol.asyncDispose]();
    if (engines) await eraseEngines(engines, prefix);
    await engines?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  /** For each command that was called, the words after its name. */
  const called = new Map<string, string[]>();
  const run = (words: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    runKith([...words, '--json'], { KITH_CWD: folder, ...env });
  /** Calls a command and returns its result. */
  const call = async <T>(name: string, words: string[] = [], env: NodeJS.ProcessEnv = {}): Promise<T> => {
    called.set(name, words);
    const said = await run([...name.split(' '), ...words], env);
    expect([name, said.code, said.stderr]).toEqual([name, 0, '']);
    return resultIn(name, said.stdout) as T;
  };

  it('makes every command print JSON on stdout, and nothing else', async () => {
    const env = { PORT: '0', INTERNAL_PORT: '0' };
    started = await startByKith({ cwd: folder, env, until: '"event":"up"', words: ['--json'] });
    called.set('start', []);
    expect(resultIn('start', started.output())).toMatchObject({ event: 'up', form: 'embedded' });
    expect(await call('status')).toMatchObject({ isRunning: true });
    expect(await call('doctor')).toMatchObject({ isWell: true, findings: expect.any(Array) });
    const { url, users } = await call<{ url: string; users: { id: string; accessToken: string }[] }>('demo');

    const [project] = await call<Project[]>('projects create', ['--name', 'Club']);
    const { id } = project!;
    expect(await call('projects show', [id])).toEqual(project);
    expect(await call('projects update', [id, '--name', 'Book club'])).toMatchObject([{ id }]);
    const projects = await call<Project[]>('projects list');
    const demo = projects.find(({ name }) => name === 'Demo')?.id ?? '';
    const [userId = ''] = users.map((user) => user.id);
    expect(await call<OwnUser[]>('users list', ['--project', demo])).toHaveLength(2);
    expect(await call('users suspend', [userId, '--project', demo])).toMatchObject([{ isActive: false }]);
    expect(await call('users restore', [userId, '--project', demo])).toMatchObject([{ isActive: true }]);
    const about = [userId, '--project', demo];
    expect(await call('users update', [...about, '--role', 'editor'])).toMatchObject([{ role: 'editor' }]);
    await writeFile(join(folder, 'password'), 'told by the operator\n');
    await call('users set-password', [...about, '--password-file', 'password']);
    expect(await call('users sessions', about)).toEqual([]);
    expect(await call('users end-sessions', about)).toEqual([{ id: userId, sessions: 'ended' }]);
    const rights = ['--scope', 'users:read', '--scope', 'users:write', '--project', demo];
    const [operator] = await call<{ id: string }[]>('operators create', ['--name', 'Support', ...rights]);
    expect(operator).toMatchObject({ scopes: ['users:read', 'users:write'], projectIds: [demo] });
    expect(await call('operators list')).toMatchObject([{ id: operator!.id, name: 'Support' }]);
    const gone = await call('operators delete', [operator!.id]);
    expect(gone).toEqual([{ id: operator!.id, status: 'deleted' }]);
    expect(await call('users remove-factors', about)).toEqual([{ id: userId, factors: 'removed' }]);
    const [made] = await call<{ id: string; key: string }[]>('server-keys create', [
      ...['--name', 'Backend', '--project', demo],
    ]);
    expect(made).toMatchObject({ name: 'Backend', key: expect.stringMatching(/^kith_sk_/) });
    expect(await call('server-keys list', ['--project', demo])).toMatchObject([{ id: made!.id }]);
    const [newest] = await call<{ action: string }[]>('audit', ['--project', demo]);
    expect(newest).toMatchObject({ action: 'identity.create-server-key', outcome: 'success' });
    const removed = await call('server-keys delete', [made!.id, '--project', demo]);
    expect(removed).toEqual([{ id: made!.id, status: 'deleted' }]);
    const form = new FormData();
    form.append('file', new Blob(['a file of a user']), 'name');
    const uploaded = await fetch(`${url}/v7/${demo}/storage/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${users[1]!.accessToken}` },
      body: form,
    });
    const { fileId } = (await uploaded.json()) as StoredFile;
    const erased = await call('files delete', [fileId, '--project', demo, '--yes']);
    expect(erased).toEqual([{ id: fileId, status: 'deleted' }]);
    const [key] = await call<{ kid: string }[]>('keys rotate');
    expect(await call('keys revoke', [key!.kid])).toHaveLength(1);
    await writeFile(join(folder, 'users.jsonl'), '{"foreignId":"1"}\n');
    const imported = await call('import', ['--project', id, '--users', 'users.jsonl']);
    expect(imported).toMatchObject({ event: 'done', files: [{ kind: 'users', imported: 1 }] });
    expect(await call('rebuild', ['identity-blocks'])).toEqual({ copied: 0 });
    const list = ['--erased', '.kith/erasures.jsonl'];
    expect(await call('erase-again', list)).toEqual({ announced: 0, existing: 0 });
    const deleting = await call('projects delete', [id, '--yes']);
    expect(deleting).toEqual([{ id, status: 'deleting' }]);
    // spec#operators-cli. Other suites call the commands that import data, rebuild copies, or announce erasures.
    const done = (await call<{ action: string }[]>('audit')).map(({ action }) => action);
    const changing = operations.filter(
      ({ auth, method, name }) =>
        auth === 'operator' && method !== 'GET' && !/\.(import|rebuild|announce)\b/.test(name),
    );
    expect(changing.map(({ name }) => name).filter((name) => !done.includes(name))).toEqual([]);
    expect(await call('backup', ['backup', '--anonymise'])).toMatchObject({ password: expect.any(String) });
    expect(await call('stop')).toMatchObject({ pid: expect.any(Number) });
    expect(await call('secrets rotate')).toEqual([
      { service: 'identity', sealed: 2, anew: 2, unreadable: 0 },
    ]);

    expect(await call('dead-letters list', ['connections-profiles'])).toEqual([]);
    expect(await call('dead-letters replay', ['connections-profiles'])).toEqual({ published: 0 });
    expect(await call('restored', ['identity'])).toEqual({ service: 'identity', epoch: 1 });
    const restored = await call('restore', ['backup'], { KITH_DATA: 'restored' });
    expect(restored).toMatchObject({ event: 'done', counts: expect.any(Array) });
    expect(await call('adopt', ['--from', 'backup'])).toEqual({ folder: join(folder, 'backup') });
    const databases = { MONGODB_URL: engines?.mongodbUrl, KITH_PREFIX: prefix };
    if (engines) expect(await call('move', [], databases)).toMatchObject({ event: 'done' });
    else called.set('move', []);
    const { script } = await call<{ script: string }>('completion', ['bash']);
    expect(script).toContain('complete -F _kith kith');

    expect([...called.keys()].toSorted()).toEqual(commands.map(({ name }) => name).toSorted());
  }, 60_000);

  it.each(commands.map(({ name }) => name))(
    'makes a failure of kith %s one JSON object on stderr',
    async (name) => {
      const words = [...name.split(' '), ...(called.get(name) ?? [])];
      const wrong = await run([...words, '--nonsense']);
      expect([wrong.code, errorOf(wrong)]).toEqual([2, { code: 'usage', message: expect.any(String) }]);
      // There is no platform to work on, so all commands fail, except `completion`. `completion` needs no platform: it fails only if
      // the words of the command line are wrong.
      if (name === 'completion') return;
      const env = { KITH_DATA: '/dev/null/kith', KITH_URL: 'http://127.0.0.1:9', KITH_CWD: folder };
      const again = name === 'restore' ? ['restore', randomUUID()] : words;
      // `start` turns its process into a running platform, so it gets a process of its own.
      const failed = name === 'start' ? await kith([...words, '--json'], env) : await run(again, env);
      expect([failed.code, errorOf(failed)]).toEqual([
        ['stop', 'status'].includes(name) ? 3 : 1,
        { code: expect.stringMatching(/^[a-z-]+$/), message: expect.stringMatching(/./) },
      ]);
    },
  );
});

/**
 * Returns the result that a command has printed on stdout. Usually, the whole of stdout is the result, as one JSON document. A
 * command with `isLong` prints lines of progress first, so its result is the last line. Throws if stdout does not have this
 * form.
 */
function resultIn(name: string, stdout: string): unknown {
  const { isLong } = commands.find((command) => command.name === name)!;
  if (!isLong) return JSON.parse(stdout);
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.slice(0, -1).filter(({ event }) => event !== 'progress')).toEqual([]);
  return lines.at(-1);
}

function errorOf({ stderr }: Said): unknown {
  const { error, ...rest } = JSON.parse(stderr);
  expect(rest).toEqual({});
  return error;
}
