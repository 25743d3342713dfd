// Starts at most 2 platforms and 23 processes.
import type { Connection, PublicUser } from '@kith/contracts';
import { type CallError, caller } from '@kith/platform';
import { createPeople, createUploads, handlerEngines, type TestUser, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runKith } from './support/command.ts';
import { type Restorable, startRestorable } from './support/restorable.ts';

// docs/adr/0028
describe.each(handlerEngines())('a database that was restored from a backup (%s)', (engine) => {
  let platform: Restorable;
  beforeAll(async () => {
    platform = await startRestorable(engine);
  });
  afterAll(() => platform?.[Symbol.asyncDispose]());

  const call = <T>(method: string, path: string, by?: TestUser, body?: unknown) =>
    caller(platform.url)<T>(method, path, { ...(by && { token: by.accessToken }), body });
  const people = () => createPeople(caller(platform.url), platform.operatorToken);
  const rename = (user: TestUser, name: string) =>
    call('PATCH', `/v7/${user.projectId}/users/${user.id}`, user, { name });
  const leave = (user: TestUser) => call('DELETE', `/v7/${user.projectId}/users/${user.id}`, user);
  /** The names of a user's connections, as the connections service has copied them. */
  const namesSeenBy = async (user: TestUser) => {
    const path = `/v7/${user.projectId}/connections?limit=50`;
    const { connections } = await call<{ connections: Connection[] }>('GET', path, user);
    return connections.map(({ connectedUser }) => connectedUser.name).sort();
  };
  const sees = (user: TestUser, names: string[]) =>
    waitFor(async () => (await namesSeenBy(user)).join() === names.join(), { what: names.join() });
  const statusOf = async (user: TestUser, as?: TestUser) => {
    const path = `/v7/${user.projectId}/users/${user.id}`;
    return call('GET', path, as).then(
      () => 200,
      (error) => (error as CallError).status,
    );
  };

  it('identity: later changes take effect, and users who left or signed up after the backup are gone everywhere', async () => {
    const { id: project } = await people().createProject();
    const add = (name: string) => people().createUser(project, { name });
    const [viewer, ada, bob] = [await add('Viewer'), await add('Ada'), await add('Bob')];
    for (const user of [ada, bob]) await people().connect(user, viewer);
    await sees(viewer, ['Ada', 'Bob']);
    await platform.backUp('identity');
    for (const name of ['Ada Two', 'Ada Three', 'Ada Four']) await rename(ada, name);
    await leave(bob);
    await call('POST', `/v7/${project}/auth/sign-out`, undefined, { refreshToken: ada.refreshToken });
    const carol = await add('Carol');
    await people().connect(carol, viewer);
    await sees(viewer, ['Ada Four', 'Carol']);

    await platform.restore('identity');
    expect(await statusOf(bob)).toBe(404);
    await sees(viewer, ['Ada']);
    expect(await statusOf(carol)).toBe(404);
    const renew = { refreshToken: ada.refreshToken };
    const renewed = call('POST', `/v7/${project}/auth/request-new-access-token`, undefined, renew);
    await expect(renewed).rejects.toMatchObject({ status: 401 });
    // The restore has lost another rename, which had the same `seq` as the rename below.
    const credentials = { email: ada.email, password: ada.password };
    const session = await call<TestUser>('POST', `/v7/${project}/auth/sign-in`, undefined, credentials);
    await rename({ ...ada, accessToken: session.accessToken }, 'Ada Anew');
    await sees(viewer, ['Ada Anew']);
  });

  it('connections: deleted users are removed again, and new blocks take effect', async () => {
    const { id: project } = await people().createProject();
    const add = (name: string) => people().createUser(project, { name, username: name });
    const [viewer, ada, bob, troll] = [
      await add('viewer'),
      await add('ada'),
      await add('bob'),
      await add('troll'),
    ];
    const suggested = async () => {
      const users = await call<PublicUser[]>('GET', `/v7/${project}/users/suggestions?query=troll`, viewer);
      return users.length;
    };
    const block = async (method: 'POST' | 'DELETE') => {
      await call(method, `/v7/${project}/users/${troll.id}/block`, viewer);
      await waitFor(async () => (await suggested()) === (method === 'POST' ? 0 : 1));
    };
    for (const user of [ada, bob]) await people().connect(user, viewer);
    await sees(viewer, ['ada', 'bob']);
    await platform.backUp('connections');
    for (const method of ['POST', 'DELETE', 'POST'] as const) await block(method);
    await leave(bob);
    await sees(viewer, ['ada']);

    expect(await platform.restore('connections')).toBe('connections: epoch 1; you can start it now\n');
    // The log still has events from before the restore. A start must not conclude from these events that data was lost again.
    // Otherwise, the start would raise the epoch, and the next restore would not report epoch 2.
    if (engine === 'embedded') {
      await platform.backUp('connections');
      expect(await platform.restore('connections')).toBe('connections: epoch 2; you can start it now\n');
    }
    await sees(viewer, ['ada']);
    // The block was made after the backup, so the restore has lost it. After the block is made again, it hides the user.
    await waitFor(async () => (await suggested()) === 1);
    await block('POST');
    expect(await suggested()).toBe(0);
  });

  it('storage: the files of deleted users are removed again, and other users keep theirs', async () => {
    const { id: project } = await people().createProject();
    const [ada, bob] = [await people().createUser(project), await people().createUser(project)];
    const upload = (by: TestUser, text: string) => createUploads(platform.url).uploadFile(by, text);
    const statusAt = async (path: string) => (await fetch(platform.url + path)).status;
    const [hers, his] = [await upload(ada, 'hers'), await upload(bob, 'his')];
    await platform.backUp('storage');
    const after = await upload(ada, 'after the backup');
    await leave(bob);
    await waitFor(async () => (await statusAt(his.originalPath)) === 404, { what: 'the end of his file' });

    await platform.restore('storage');
    await waitFor(async () => (await statusAt(his.originalPath)) === 404, { what: 'the end of his file' });
    expect(await statusAt(after.originalPath)).toBe(404);
    const anew = await upload(ada, 'anew');
    expect([await statusAt(hers.originalPath), await statusAt(anew.originalPath)]).toEqual([200, 200]);
    const list = await call<{ data: { fileId: string }[] }>('GET', `/v7/${project}/storage/files`, ada);
    expect(list.data.map(({ fileId }) => fileId)).toEqual([anew.fileId, hers.fileId]);
  });

  it('kith restored refuses a service that has no database', async () => {
    const { code, stderr } = await runKith(['restored', 'crypto'], {});
    expect([code, stderr]).toEqual([2, expect.stringContaining('Name the restored service')]);
  });
});
