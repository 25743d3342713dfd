// Starts at most 2 platforms and 1 process.
import type { AppNotification } from '@kith/contracts';
import {
  availableEngines,
  EventSource,
  sharedPlatform,
  type TestPlatform,
  type TestUser,
  waitFor,
} from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { http } from './support/http.ts';
import { startSecondGateway } from './support/second-gateway.ts';

interface Page {
  data: AppNotification[];
  pagination: { totalItems: number };
}

describe.each(availableEngines())('notifications (%s)', (engine) => {
  let platform: TestPlatform;
  let projectId: string;
  let scope: string;
  beforeAll(async () => {
    platform = await sharedPlatform(engine);
    projectId = (await platform.createProject()).id;
    scope = `/v7/${projectId}/app-notifications`;
  });
  afterAll(() => platform?.stop());

  const users = (...names: string[]) =>
    Promise.all(names.map((name) => platform.createUser(projectId, { name })));
  const list = ({ accessToken: token }: TestUser) => platform.call<Page>('GET', scope, { token });
  const count = ({ accessToken: token }: TestUser) =>
    platform.call<number>('GET', `${scope}/count`, { token });

  it('requests and acceptances create notifications, which can be listed and marked as read', async () => {
    const [ada, grace] = (await users('Ada', 'Grace')) as [TestUser, TestUser];
    const connectionId = await platform.connect(ada, grace);
    await waitFor(async () => (await count(ada)) === 1 && (await count(grace)) === 1);
    const { data } = await list(grace);
    expect(data).toEqual([
      {
        id: expect.any(String),
        projectId,
        userId: grace.id,
        type: 'connection-request',
        action: 'open-profile',
        isRead: false,
        metadata: {
          connectionId,
          initiatorId: ada.id,
          initiatorName: 'Ada',
          initiatorUsername: null,
          initiatorAvatar: null,
        },
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      },
    ]);
    const [item] = data as [AppNotification];
    const token = grace.accessToken;
    for (const form of ['/v6', '/v7', '/api/v7', '']) {
      const answer = await http(platform.url, { path: `${form}/${projectId}/app-notifications`, token });
      expect([form, answer.json()]).toEqual([form, await list(grace)]);
    }
    const bare = await http(platform.url, { path: `/api/v6/${projectId}/app-notifications`, token });
    expect(bare.json()).toEqual(data);

    const mark = `${scope}/${item.id}/mark-as-read`;
    const stranger = await http(platform.url, { method: 'PATCH', path: mark, token: ada.accessToken });
    expect([stranger.status, stranger.json()]).toEqual([
      404,
      { error: 'No such notification.', code: 'app-notification/not-found' },
    ]);
    const marked = await platform.call<AppNotification>('PATCH', mark, { token });
    expect(marked).toEqual({ ...item, isRead: true, updatedAt: expect.any(String) });
    expect(await platform.call('PATCH', mark, { token })).toEqual(marked);
    expect(await count(grace)).toBe(0);
    const all = `${scope}/mark-all-as-read`;
    expect(await platform.call('PATCH', all, { token: ada.accessToken })).toEqual({ markedAsRead: 1 });
    expect(await platform.call('PATCH', all, { token: ada.accessToken })).toEqual({ markedAsRead: 0 });
  });

  it('notifications can be read only with a token of the project', async () => {
    const other = (await platform.createProject()).id;
    const user = await platform.createUser(other);
    const paths = ['', '/count', '/stream'].map((path) => ['GET', scope + path] as const);
    const marks = ['/x/mark-as-read', '/mark-all-as-read'].map((path) => ['PATCH', scope + path] as const);
    for (const [method, path] of [...paths, ...marks]) {
      const none = await http(platform.url, { method, path });
      expect([path, none.status, none.json()]).toMatchObject([path, 401, { code: 'auth/unauthorized' }]);
      const wrong = await http(platform.url, { method, path, token: user.accessToken });
      expect([path, wrong.status, wrong.json()]).toMatchObject([path, 403, { code: 'auth/forbidden' }]);
    }
  });

  it('a stream ends when its session ends', async () => {
    const user = await platform.createUser(projectId);
    const token = user.accessToken;
    using source = await EventSource.open(`${platform.url}${scope}/stream`, { token });
    await waitFor(() => source.lastId !== undefined);
    const body = { refreshToken: user.refreshToken };
    await platform.call('POST', `/v7/${projectId}/auth/sign-out`, { body });
    await waitFor(() => source.isEnded, { what: 'the end of the stream' });
    const refused = await http(platform.url, { path: `${scope}/stream`, token });
    expect([refused.status, refused.json()]).toMatchObject([401, { code: 'auth/unauthorized' }]);
  });

  it('a stream sends notifications immediately, and another gateway can continue a stream that was cut', async () => {
    const [ada, grace, alan] = (await users('Ada', 'Grace', 'Alan')) as [TestUser, TestUser, TestUser];
    const open = (url: string, lastEventId?: string) =>
      EventSource.open(`${url}${scope}/stream`, { token: grace.accessToken, lastEventId });
    using first = await open(platform.url);
    await waitFor(() => first.lastId !== undefined);
    await platform.connect(ada, grace);
    await waitFor(() => first.events.length === 1);
    first[Symbol.dispose]();
    await platform.connect(alan, grace);
    await using gateway = engine === 'containers' ? await startSecondGateway(platform) : undefined;
    using second = await open(gateway?.url ?? platform.url, first.lastId);
    await waitFor(() => second.events.length === 1);
    expect([...first.events, ...second.events].map(({ event, id }) => [event, id])).toEqual([
      ['notification', '1'],
      ['notification', '2'],
    ]);
    const told = [...first.events, ...second.events].map(({ data }) => data);
    expect((await list(grace)).data).toEqual(told.toReversed());
  });
});
