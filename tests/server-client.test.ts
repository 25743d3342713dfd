// Starts at most 2 platforms and 12 processes.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createServerClient, isKithError, type ServerClient } from '@kith/client/server';
import {
  availableEngines,
  compileCache,
  sharedPlatform,
  type TestPlatform,
  type TestUser,
  waitFor,
} from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeServerKey } from './support/surface/suite.ts';

const announce = fileURLToPath(new URL('../examples/people/server/announce.ts', import.meta.url));

describe.each(availableEngines())('the client of an application’s back end (%s)', (engine) => {
  let platform: TestPlatform;
  let projectId: string;
  let serverKey: string;
  let server: ServerClient;
  let ada: TestUser;
  let grace: TestUser;
  beforeAll(async () => {
    platform = await sharedPlatform(engine);
    projectId = (await platform.createProject()).id;
    serverKey = await makeServerKey(platform, projectId);
    server = createServerClient({ url: platform.url, projectId, serverKey });
    ada = await platform.createUser(projectId, { name: 'Ada', username: 'ada' });
    grace = await platform.createUser(projectId, { name: 'Grace' });
  });
  afterAll(() => platform.stop());

  it('reads the full profile of a user, and changes fields that the users themselves cannot change', async () => {
    const { id } = await server.users.getByUsername({ username: 'ada' });
    expect(id).toBe(ada.id);
    expect(await server.users.get({ userId: id })).toMatchObject({ name: 'Ada', email: ada.email });
    const changed = await server.users.update({ userId: id, role: 'customer', reputation: 7 });
    expect(changed).toMatchObject({ id, role: 'customer', reputation: 7 });
  });

  it('can do for a user what the user could do, but only for users of its own project', async () => {
    const forAda = server.onBehalfOf(ada.id);
    const { id: collectionId, userId } = await forAda.collections.getRoot();
    expect(userId).toBe(ada.id);
    await forAda.collections.addEntity({ collectionId, entityId: 'order-42' });
    const { items } = await platform.client(ada).collections.listEntities({ collectionId });
    expect(items.map((entity) => entity.id)).toEqual(['order-42']);
    const asGrace = server.onBehalfOf(grace.id).collections.listEntities({ collectionId });
    await expect(asGrace).rejects.toSatisfy((error) => isKithError(error, 'collection/not-found'));
    const asStranger = server.onBehalfOf((await platform.createUser()).id).collections.getRoot();
    await expect(asStranger).rejects.toSatisfy((error) => isKithError(error, 'auth/forbidden'));
  });

  it('announce.ts notifies people, in their lists and immediately in their streams', async () => {
    const stopping = new AbortController();
    const kith = platform.client(grace);
    const heard: string[] = [];
    const listen = async () => {
      const onStatus = ({ state }: { state: string }) => heard.push(state);
      for await (const event of kith.notifications.stream({ signal: stopping.signal, onStatus }))
        if (event.type === 'notification') return event.notification;
    };
    const told = listen();
    await waitFor(async () => heard.includes('open'), { what: 'the open stream' });
    const run = (words: readonly string[], key = serverKey) =>
      promisify(execFile)(process.execPath, [announce, ...words], {
        env: {
          ...{ PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCache() },
          ...{ KITH_URL: platform.url, KITH_PROJECT: projectId, KITH_SERVER_KEY: key },
        },
      });
    const { stdout } = await run(['We are open again', ada.id, grace.id]);
    expect(stdout).toBe('2 notified\n');
    const announced = { type: 'announcement', metadata: { text: 'We are open again' } };
    expect(await told).toMatchObject(announced);
    stopping.abort();
    const { items } = await platform.client(ada).notifications.list();
    expect(items).toMatchObject([announced]);
    // If the key or the user is missing, the program prints its usage.
    const usage = { code: 2, stderr: expect.stringContaining('TEXT USER_ID…') };
    await expect(run(['We are open again', ada.id], '')).rejects.toMatchObject(usage);
    await expect(run(['We are open again'])).rejects.toMatchObject(usage);
  });
});
