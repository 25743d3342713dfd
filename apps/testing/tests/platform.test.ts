// Starts at most 4 platforms and 14 processes.
import { existsSync, lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isKithError } from '@kith/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { availableEngines, startPlatform, type TestPlatform } from '../src/index.ts';

/** The files that this process has open. Only Linux lists them. */
function openFiles(): string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    // The descriptor with which this folder was listed is also in the list, but is closed by now.
    const path = join('/proc/self/fd', fd);
    return lstatSync(path, { throwIfNoEntry: false }) ? [readlinkSync(path)] : [];
  });
}

describe.each(availableEngines())('startPlatform (%s)', (engine) => {
  let platform: TestPlatform;
  let other: TestPlatform;
  beforeAll(async () => {
    platform = await startPlatform({ engine });
    other = await startPlatform({ engine });
  });
  afterAll(() => Promise.all([platform?.stop(), other?.stop()]));

  it('the platform has a project from the start, and makes users in this project and in other projects', async () => {
    const ada = await platform.createUser({ name: 'Ada' });
    expect(ada).toMatchObject({ projectId: platform.project.id, user: { name: 'Ada' } });
    const { id: projectId } = await platform.createProject('Other');
    const grace = await platform.createUser(projectId, { name: 'Grace' });
    expect(grace).toMatchObject({ projectId, user: { name: 'Grace' } });
    const account = { email: 'lin@example.com', password: 'correct horse battery' };
    const lin = await platform.createUser(account);
    expect(lin).toMatchObject(account);
    expect((await platform.client().auth.signIn(account)).user.id).toBe(lin.id);
    await expect(platform.connect(ada, grace)).rejects.toMatchObject({ code: 'connection/user-not-found' });
  });

  it('the platform makes clients that are signed in as a user, and clients that are not signed in', async () => {
    const [ada, grace] = [
      await platform.createUser({ name: 'Ada' }),
      await platform.createUser({ name: 'Grace' }),
    ];
    await platform.connect(ada, grace, 'Hello');
    const { items } = await platform.client(grace).connections.list();
    expect(items).toMatchObject([{ message: 'Hello', connectedUser: { id: ada.id, name: 'Ada' } }]);
    expect(await platform.client().users.get({ userId: ada.id })).toMatchObject({ name: 'Ada' });
    const refusal = await platform
      .client()
      .connections.list()
      .then(undefined, (error: unknown) => error);
    expect(isKithError(refusal, 'auth/unauthorized')).toBe(true);
  });

  it('the platform stores files and images of a user', async () => {
    const ada = await platform.createUser();
    const { storage } = platform.client(ada);
    const note = await platform.uploadFile(ada, 'Tape the bug into the book.', 'notes.txt');
    expect(note).toMatchObject({ type: 'file', name: 'notes.txt', originalSize: 27 });
    expect(await (await storage.getFile(note)).text()).toBe('Tape the bug into the book.');
    const bytes = await platform.uploadFile(ada, new Uint8Array([1, 2, 3]));
    const image = await platform.uploadImage(ada, { sizes: { small: 8 } });
    expect(image).toMatchObject({ originalWidth: 16, variants: { small: { width: 8 } } });
    const { items } = await storage.listFiles();
    expect(items).toEqual([image, bytes, note]);
  });

  it('waitForEvent waits for events, and also finds events that came before the call', async () => {
    const [ada, grace] = [await platform.createUser(), await platform.createUser()];
    const soon = platform.waitForEvent('connection.accepted', {
      where: ({ data }) => data.requesterId === ada.id,
    });
    const connectionId = await platform.connect(ada, grace);
    const accepted = await soon;
    expect(accepted).toMatchObject({
      projectId: platform.project.id,
      actorId: grace.id,
      data: { connectionId, receiverId: grace.id },
    });
    const again = await platform.waitForEvent((event) => event.id === accepted.id);
    expect(again).toBe(accepted);
    const requested = await platform.waitForEvent('connection.requested', {
      where: ({ data }) => data.connectionId === connectionId,
    });
    expect(platform.events).toEqual(expect.arrayContaining([requested, accepted]));

    const blocked = platform.waitForEvent('connection.blocked', { since: accepted });
    await platform.client(ada).connections.block({ userId: grace.id });
    expect((await blocked).data).toEqual({ blockerId: ada.id, blockedId: grace.id, connectionId });
  });

  it('the platform shares nothing with another platform of the same process', async () => {
    expect(other.url).not.toBe(platform.url);
    const user = await other.createUser();
    await other.waitForEvent('user.created', { where: ({ data }) => data.id === user.id });
    // This event is published later than all events of the other project. So if the other project's events came to this
    // platform, they would have come before this event.
    const here = await platform.createUser();
    await platform.waitForEvent('user.created', { where: ({ data }) => data.id === here.id });
    expect(platform.events.filter(({ projectId }) => projectId === other.project.id)).toEqual([]);
    await expect(
      platform.call('GET', `/v7/${other.project.id}/users/${user.id}`, { token: here.accessToken }),
    ).rejects.toThrow(/403|404/);
  });

  it('the platform ends only once, ends all waiting calls, and leaves no folder and no open file', async () => {
    const folder = other.dataFolder.replace(/data$/, '');
    expect(existsSync(folder)).toBe(true);
    const waiting = expect(other.waitForEvent('user.deleted')).rejects.toThrow('has ended');
    await Promise.all([other.stop(), other.stop()]);
    await other.stop();
    await waiting;
    expect(existsSync(folder)).toBe(false);
    expect(openFiles().filter((file) => file.startsWith(folder))).toEqual([]);
    await expect(fetch(other.url)).rejects.toThrow();
    // Only `other` has ended: `platform` is still running.
    expect((await platform.createUser()).projectId).toBe(platform.project.id);
  });
});
