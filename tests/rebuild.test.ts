// Starts at most 2 platforms and 9 processes.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Connection, PublicUser } from '@kith/contracts';
import { handlerEngines, startPlatform, type TestPlatform, type TestUser, waitFor } from '@kith/testing';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessOf, runKith } from './support/command.ts';

/**
 * Empties the copy that a service has of another service's data. Does this directly in the database, so the service does not
 * notice. A lost or damaged database would have the same effect.
 */
async function empty(platform: TestPlatform, service: string, copy: string): Promise<void> {
  if (!platform.engines) {
    const db = new DatabaseSync(join(platform.dataFolder, `${service}.sqlite`), { timeout: 5_000 });
    db.exec(`DELETE FROM ${copy}`);
    db.close();
    return;
  }
  await using client = new MongoClient(platform.engines.mongodbUrl);
  await client.db(`${platform.prefix}_${service}`).collection(copy).deleteMany({});
}

/**
 * Puts identity's copy of each block back to its state after the first event about the two users, as if the later events were
 * lost.
 */
async function forgetUnblocking(platform: TestPlatform): Promise<void> {
  const doc = JSON.stringify({ isBlocked: true });
  if (!platform.engines) {
    const db = new DatabaseSync(join(platform.dataFolder, 'identity.sqlite'), { timeout: 5_000 });
    db.prepare('UPDATE blocks SET doc = ?, newest = 1').run(doc);
    db.close();
    return;
  }
  await using client = new MongoClient(platform.engines.mongodbUrl);
  const stored = client.db(`${platform.prefix}_identity`).collection('blocks');
  await stored.updateMany({}, { $set: { d: doc, newest: 1 } });
}

// `kith rebuild` calls connections.rebuild-profiles, notifications.rebuild-profiles and identity.rebuild-blocks page by page.
describe.each(handlerEngines())('kith rebuild (%s)', (engine) => {
  // The tests have a platform of their own, because they empty copies that hold data of every project.
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startPlatform({ engine });
  });
  afterAll(() => platform?.stop());

  it('fills empty copies again: profiles in connections and notifications, blocks in identity', async () => {
    const { id } = await platform.createProject();
    const ada = await platform.createUser(id, { name: 'Ada', username: 'ada.one' });
    const grace = await platform.createUser(id, { name: 'Grace', username: 'grace.one' });
    const troll = await platform.createUser(id, { name: 'Troll', username: 'troll.one' });
    await platform.connect(ada, grace);
    const call = <T>(method: string, path: string, user: TestUser) =>
      platform.call<T>(method, `/v7/${id}${path}`, { token: user.accessToken });
    await call('POST', `/users/${troll.id}/block`, ada);
    const suggested = async () => {
      const users = await call<PublicUser[]>('GET', '/users/suggestions?query=troll', ada);
      return users.map((user) => user.id);
    };
    await waitFor(async () => (await suggested()).length === 0, { what: 'the block to reach identity' });

    for (const [service, copy] of [
      ['connections', 'profiles'],
      ['notifications', 'profiles'],
      ['identity', 'blocks'],
    ] as const) {
      await empty(platform, service, copy);
    }
    expect(await suggested()).toEqual([troll.id]);

    const copied = async (copy: string) => {
      const { code, stdout, stderr } = await runKith(['rebuild', copy], accessOf(platform));
      expect([code, stderr]).toEqual([0, '']);
      return stdout;
    };
    expect(await copied('connections-profiles')).toBe('3 copied\n');
    expect(await copied('notifications-profiles')).toBe('3 copied\n');
    expect(await copied('identity-blocks')).toBe('1 copied\n');
    expect(await suggested()).toEqual([]);
    // This name can come only from the copy, because a search does not ask identity.
    const { connections } = await call<{ connections: Connection[] }>('GET', '/connections?query=grace', ada);
    expect(connections).toMatchObject([{ connectedUser: { id: grace.id, name: 'Grace' } }]);
    // Repeating the command changes nothing.
    expect(await copied('identity-blocks')).toBe('1 copied\n');
    expect(await suggested()).toEqual([]);
  });

  it('removes a block from identity if the connections service no longer has it', async () => {
    const { id } = await platform.createProject();
    const ada = await platform.createUser(id, { name: 'Ada', username: 'ada.two' });
    const troll = await platform.createUser(id, { name: 'Troll', username: 'troll.two' });
    const call = <T>(method: string, path: string) =>
      platform.call<T>(method, `/v7/${id}${path}`, { token: ada.accessToken });
    const isSuggested = async () =>
      (await call<PublicUser[]>('GET', '/users/suggestions?query=troll')).length === 1;
    await call('POST', `/users/${troll.id}/block`);
    await waitFor(async () => !(await isSuggested()), { what: 'the block to reach identity' });
    await call('DELETE', `/users/${troll.id}/block`);
    await waitFor(isSuggested, { what: 'the end of the block to reach identity' });
    await forgetUnblocking(platform);
    expect(await isSuggested()).toBe(false);

    const rebuild = () => runKith(['rebuild', 'identity-blocks', '--project', id], accessOf(platform));
    expect((await rebuild()).stdout).toBe('1 copied\n');
    expect(await isSuggested()).toBe(true);
    expect((await rebuild()).stdout).toBe('0 copied\n');
  });

  it('refuses a wrong operator token and an unknown copy', async () => {
    const failed = async (word: string) => {
      const said = await runKith(['rebuild', word], { ...accessOf(platform), OPERATOR_TOKEN: 'wrong' });
      return [said.code, said.stderr];
    };
    expect(await failed('nothing')).toEqual([
      2,
      expect.stringMatching(/^kith: Name the copy: one of connections-profiles, /),
    ]);
    expect(await failed('identity-blocks')).toEqual([1, 'kith: The operator’s token is not accepted.\n']);
  });
});
