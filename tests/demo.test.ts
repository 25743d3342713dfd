// Starts at most 1 platform and no process.
import { mkdir, mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataFolder, ensureDemo, type StartFile } from '@kith/platform';
import { handlerEngines, sharedPlatform, type TestPlatform } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Authenticator } from './support/authenticator.ts';

describe.each(handlerEngines())('a demo of an earlier start (%s)', (engine) => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await sharedPlatform(engine);
  });
  afterAll(() => platform?.stop());

  const start = async (folder: string) => {
    const { url, adminUrl, operatorToken } = platform;
    return ensureDemo(dataFolder(folder), { url, adminUrl, operatorToken, stateName: 'demo.json' });
  };
  const administer = (path: string, body?: object, method = 'POST') =>
    platform.call(method, `/admin/projects/${path}`, {
      token: platform.operatorToken,
      ...(body && { body }),
    });
  const addFactor = async ({ projectId, users: [user] }: StartFile) => {
    const call = <T>(path: string, body: object) =>
      platform.call<T>('POST', `/v7/${projectId}/auth/factors${path}`, {
        token: user?.accessToken ?? '',
        body,
      });
    const { id, secret } = await call<{ id: string; secret: string }>('', { type: 'totp' });
    await call(`/${id}/confirm`, { code: new Authenticator(secret).next() });
  };

  // `keepOut` makes the platform refuse the demo's first user. The start then prints a notice that contains `command`: the
  // command that lets this user in again, or the reason for the refusal. `letIn` lets the user in again through the API.
  const cases: {
    what: string;
    keepOut(demo: StartFile): Promise<unknown>;
    command: string;
    letIn(user: string, demo: StartFile): Promise<unknown>;
  }[] = [
    {
      what: 'a suspension',
      keepOut: ({ projectId, users: [user] }) => administer(`${projectId}/users/${user?.id}/suspend`, {}),
      command: 'npx kith users restore USER --project PROJECT',
      letIn: (user) => administer(`${user}/restore`, {}),
    },
    {
      what: 'a second factor',
      keepOut: addFactor,
      command: 'npx kith users remove-factors USER --project PROJECT',
      letIn: (user) => administer(`${user}/factors`, undefined, 'DELETE'),
    },
    {
      what: 'an address that has to be verified',
      keepOut: async ({ projectId, users: [, other] }) => {
        await administer(projectId, { requireVerifiedEmail: true }, 'PATCH');
        await administer(`${projectId}/users/${other?.id}`, { isVerified: true }, 'PATCH');
      },
      command: 'npx kith users update USER --project PROJECT --verified yes',
      letIn: (user) => administer(user, { isVerified: true }, 'PATCH'),
    },
    {
      what: 'another password',
      keepOut: ({ projectId, users: [user] }) =>
        administer(`${projectId}/users/${user?.id}/set-password`, { password: 'told by the operator' }),
      command: 'The password was changed, or the account deleted.',
      letIn: (user, { users }) => administer(`${user}/set-password`, { password: users[0]?.password }),
    },
  ];
  it.each(cases)('the demo is kept, and the start says why a user cannot sign in: $what', async (one) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'kith-demo-'));
    const { start: first, notices } = await start(folder.path);
    expect(notices).toEqual([]);
    const { projectId, users } = first;
    const [user, other] = users as [StartFile['users'][number], StartFile['users'][number]];
    await one.keepOut(first);

    const again = await start(folder.path);
    const kept = {
      ...first,
      users: [
        { ...user, accessToken: '' },
        { ...other, accessToken: expect.any(String) },
      ],
    };
    expect(again.start).toEqual(kept);
    expect(again.start.users[1]?.accessToken).not.toBe('');
    expect(again.notices).toEqual([
      expect.stringMatching(new RegExp(`^${user.email} is not signed in: `)),
      `To start over: npx kith projects delete ${projectId} --yes, then start again.`,
    ]);
    expect(again.notices[0]).toContain(one.command.replace('USER', user.id).replace('PROJECT', projectId));
    expect(JSON.parse(dataFolder(folder.path).read('start.json') ?? '')).toEqual(again.start);

    await one.letIn(`${projectId}/users/${user.id}`, first);
    const mended = await start(folder.path);
    expect([mended.notices, mended.start.projectId]).toEqual([[], projectId]);
    expect(mended.start.users[0]?.accessToken).not.toBe('');
  });

  it('the demo is completed if an earlier start was interrupted', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'kith-demo-'));
    const { start: first } = await start(folder.path);
    const { projectId, users } = first;
    const kept = dataFolder(folder.path);
    // The file looks as if the earlier start had died right after the second sign-up, before it could record the tokens.
    const [ada, grace] = users.map((user) => ({ ...user, accessToken: '' }));
    const halfMade = { ...first, users: [ada, { ...grace, id: '' }], collectionId: '' };
    kept.write('demo.json', JSON.stringify(halfMade));
    const { start: second, notices } = await start(folder.path);
    expect([second.projectId, notices]).toEqual([projectId, []]);
    expect(second.users.map(({ id }) => id)).toEqual(users.map(({ id }) => id));
    expect(second.collectionId).not.toBe('');
    expect(JSON.parse(kept.read('demo.json') ?? '')).toEqual(second);
    // Now the file looks as if the earlier start had died right after it had made the project, and as if somebody had deleted
    // this project later.
    await administer(projectId, undefined, 'DELETE');
    const none = users.map((user) => ({ ...user, id: '', accessToken: '' }));
    kept.write('demo.json', JSON.stringify({ ...first, users: none, collectionId: '' }));
    const { start: third } = await start(folder.path);
    expect([third.users.length, third.projectId === projectId]).toEqual([2, false]);
  });

  it('two starts at the same time make one demo', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'kith-demo-'));
    const [first, second] = await Promise.all([start(folder.path), start(folder.path)]);
    expect(second.start.projectId).toBe(first.start.projectId);
    const kept = JSON.parse(dataFolder(folder.path).read('start.json') ?? '');
    expect([first.start, second.start]).toContainEqual(kept);
  });

  it('the demo is made in a folder in which nothing can be locked', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'kith-demo-'));
    await mkdir(join(folder.path, 'demo.lock'));
    const { start: made, notices } = await start(folder.path);
    expect([made.users.length, notices]).toEqual([2, []]);
  });

  it('the demo is created again after its project was deleted', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'kith-demo-'));
    const { start: first } = await start(folder.path);
    await administer(first.projectId, undefined, 'DELETE');
    const { start: second, notices } = await start(folder.path);
    expect([second.projectId === first.projectId, notices]).toEqual([false, []]);
    expect(JSON.parse(dataFolder(folder.path).read('demo.json') ?? '')).toEqual(second);
  });
});
