import { randomUUID } from 'node:crypto';
import {
  type AppNotification,
  appNotification,
  blockUser,
  countNotifications,
  createNotifications,
  deleteConnectionWithUser,
  listNotifications,
  markAllNotificationsAsRead,
  markNotificationAsRead,
  requestConnection,
  signOut,
  streamNotifications,
  updateNotificationSettings,
} from '@kith/contracts';
import { type TestUser, waitFor } from '@kith/testing';
import { expect, it } from 'vitest';
import { refusesStrangers, refusesTwice } from '../support/surface/guards.ts';
import { walksList } from '../support/surface/lists.ts';
import { features } from '../support/surface/parts.ts';
import { surfaceSuite } from '../support/surface/suite.ts';

const by = ({ accessToken: token }: TestUser) => ({ token });

export const notifications = surfaceSuite('notifications', (world) => {
  const count = async (user: TestUser) => (await world.ok(countNotifications, by(user))).body;
  /**
   * The rows of a list. At the addresses where `rows` is used, a list comes in the general envelope, and not as a bare array.
   */
  const rows = (body: unknown) => (body as { data: AppNotification[] }).data;
  const list = async (user: TestUser) => rows((await world.ok(listNotifications, by(user))).body);
  const told = (user: TestUser, unread: number) =>
    waitFor(async () => (await count(user)) === unread, { what: `${unread} unread` });
  const ask = (from: TestUser, { id: userId }: TestUser) =>
    world.ok(requestConnection, { ...by(from), params: { userId } });

  it('every operation checks the token before all else', () =>
    refusesStrangers(world, features.notifications.operations));

  it('an application can send its own notifications to users; with an idempotency key, a notification is sent only once', async () => {
    const [ada, grace] = [await world.user(), await world.user()];
    using stream = await world.stream(streamNotifications, by(ada));
    const own = { type: 'order-shipped', action: 'open-order', metadata: { orderId: '42', items: [1] } };
    const userIds = [ada.id, grace.id, ada.id, world.stranger.id, randomUUID()];
    const given = { token: world.serverKey, body: { userIds, ...own } };
    expect((await world.ok(createNotifications, given)).body).toEqual({ created: 2 });
    const item = {
      ...own,
      id: expect.any(String),
      projectId: world.projectId,
      userId: ada.id,
      isRead: false,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    };
    // As soon as the platform has answered the write, the notification is in the list.
    expect(await list(ada)).toEqual([item]);
    expect([await count(ada), await count(grace)]).toEqual([1, 1]);
    const [event] = await waitFor(() => stream.events.length > 0 && stream.events, { what: 'the event' });
    expect(event?.data).toEqual(item);
    const [first] = await list(ada);
    const params = { notificationId: first!.id };
    expect((await world.ok(markNotificationAsRead, { ...by(ada), params })).body.isRead).toBe(true);

    await world.ok(updateNotificationSettings, { ...by(ada), body: { types: { [own.type]: false } } });
    expect((await world.ok(createNotifications, given)).body).toEqual({ created: 1 });
    expect(await list(ada)).toHaveLength(1);

    const bare = { ...given, body: { userIds: [grace.id], type: 'x' }, headers: { 'idempotency-key': 'k' } };
    for (let time = 0; time < 3; time++) await world.ok(createNotifications, bare);
    expect((await list(grace)).map(({ type, action, metadata }) => [type, action, metadata])).toEqual([
      ['x', null, {}],
      ['order-shipped', 'open-order', own.metadata],
      ['order-shipped', 'open-order', own.metadata],
    ]);
  });

  it.each([
    ['userIds', []],
    ['userIds', Array.from({ length: 101 }, () => randomUUID())],
    ['type', 'connection-request'],
    ['type', 'Order'],
    ['type', 'x'.repeat(65)],
    ['type', ''],
    ['action', ''],
    ['action', 'x'.repeat(201)],
    ['metadata', 'x'],
    ['metadata', { text: 'x'.repeat(8 * 1024) }],
  ])('an application’s own notification is refused for %s: %j', async (field, value) => {
    const body = { userIds: [randomUUID()], type: 'x', [field]: value };
    const given = { token: world.serverKey, body };
    await world.refused(createNotifications, given, 'app-notification/invalid-body', { field });
  });

  it('the receiver is notified of a request, and the requester of its acceptance', async () => {
    const ada = await world.user({ name: 'Ada', username: 'ada', avatar: 'https://example.com/a.png' });
    const grace = await world.user();
    const connectionId = await world.platform.connect(ada, grace);
    await told(ada, 1);
    await told(grace, 1);
    const common = {
      id: expect.any(String),
      projectId: world.projectId,
      action: 'open-profile',
      isRead: false,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    };
    expect(await list(grace)).toEqual([
      {
        ...common,
        userId: grace.id,
        type: 'connection-request',
        metadata: {
          connectionId,
          initiatorId: ada.id,
          initiatorName: 'Ada',
          initiatorUsername: 'ada',
          initiatorAvatar: 'https://example.com/a.png',
        },
      },
    ]);
    expect(await list(ada)).toEqual([
      {
        ...common,
        userId: ada.id,
        type: 'connection-accepted',
        metadata: {
          connectionId,
          initiatorId: grace.id,
          initiatorName: null,
          initiatorUsername: null,
          initiatorAvatar: null,
        },
      },
    ]);
  });

  it('notifications are listed, newest first, and under /api/v6 as a bare array', async () => {
    const ada = await world.user();
    for (const _ of [1, 2, 3]) await ask(await world.user(), ada);
    await told(ada, 3);
    const items = await list(ada);
    const times = items.map(({ createdAt }) => createdAt);
    expect(times).toEqual(times.toSorted().reverse());
    const { body } = await world.ok(listNotifications, by(ada));
    expect(body).toMatchObject({
      pagination: { page: 1, pageSize: 5, totalPages: 1, totalItems: 3, hasMore: false },
    });
    for (const form of ['', '/v6', '/api/v7']) {
      expect((await world.ok(listNotifications, { ...by(ada), form })).body).toEqual(body);
    }
    const bare = await world.ok(listNotifications, { ...by(ada), form: '/api/v6', query: 'limit=2' });
    expect(bare.body).toEqual(items.slice(0, 2));
    expect(bare.headers.link).toMatch(/rel="next"$/);
    await walksList(world, listNotifications, by(ada), { rows, max: 50 });
    await refusesTwice(world, listNotifications, by(ada));
  });

  it('a user can mark one of their own notifications as read, repeat this, and mark all as read', async () => {
    const ada = await world.user();
    for (const _ of [1, 2, 3]) await ask(await world.user(), ada);
    await told(ada, 3);
    const [first] = (await list(ada)) as [AppNotification];
    const given = { ...by(ada), params: { notificationId: first.id.toUpperCase() } };
    const marked = await world.ok(markNotificationAsRead, given);
    expect(marked.body).toEqual({ ...first, isRead: true, updatedAt: expect.any(String) });
    expect((await world.ok(markNotificationAsRead, given)).body).toEqual(marked.body);
    expect(await count(ada)).toBe(2);
    const other = await world.user();
    await world.refused(markNotificationAsRead, { ...given, ...by(other) }, 'app-notification/not-found');
    for (const notificationId of ['nonsense', randomUUID()]) {
      const unknown = { ...by(ada), params: { notificationId } };
      await world.refused(markNotificationAsRead, unknown, 'app-notification/not-found');
    }
    expect((await world.ok(markAllNotificationsAsRead, by(ada))).body).toEqual({ markedAsRead: 2 });
    expect((await world.ok(markAllNotificationsAsRead, by(ada))).body).toEqual({ markedAsRead: 0 });
    expect((await list(ada)).map(({ isRead }) => isRead)).toEqual([true, true, true]);
  });

  it('the unread notification of a request is removed if the request is withdrawn or the requester is blocked', async () => {
    const ada = await world.user();
    const [withdrawn, blocked, read] = [await world.user(), await world.user(), await world.user()];
    for (const from of [withdrawn, blocked, read]) await ask(from, ada);
    await told(ada, 3);
    const of = async ({ id }: TestUser) =>
      (await list(ada)).find(({ metadata }) => metadata.initiatorId === id)?.id ?? '';
    const params = { notificationId: await of(read) };
    await world.ok(markNotificationAsRead, { ...by(ada), params });
    for (const from of [withdrawn, read]) {
      await world.ok(deleteConnectionWithUser, { ...by(from), params: { userId: ada.id } });
    }
    await world.ok(blockUser, { ...by(ada), params: { userId: blocked.id } });
    await told(ada, 0);
    expect((await list(ada)).map(({ id }) => id)).toEqual([params.notificationId]);
  });

  it('a stream sends new notifications, resumes after an id, and ends when its session ends', async () => {
    const ada = await world.user();
    using stream = await world.stream(streamNotifications, by(ada));
    await waitFor(() => stream.lastId !== undefined, { what: 'the position in the feed' });
    await ask(await world.user({ name: 'First' }), ada);
    await ask(await world.user({ name: 'Second' }), ada);
    await waitFor(() => stream.events.length === 2, { what: 'two events' });
    const { events } = stream;
    expect(events.map(({ event, id }) => [event, id])).toEqual([
      ['notification', '1'],
      ['notification', '2'],
    ]);
    for (const { data } of events) expect(data).toStrictEqual(appNotification.parse(data));
    expect(await list(ada)).toEqual(events.map(({ data }) => data).toReversed());

    using resumed = await world.stream(streamNotifications, { ...by(ada), lastEventId: '1' });
    await waitFor(() => resumed.events.length > 0, { what: 'the missed notifications' });
    expect(resumed.events).toEqual(events.slice(1));
    using ahead = await world.stream(streamNotifications, { ...by(ada), lastEventId: '99' });
    await waitFor(() => ahead.events.length > 0, { what: 'the reset' });
    expect(ahead.events[0]).toMatchObject({ event: 'reset', id: '2' });

    await world.ok(signOut, { body: { refreshToken: ada.refreshToken } });
    await waitFor(() => [stream, resumed, ahead].every(({ isEnded }) => isEnded), { what: 'the end' });
    await world.refused(streamNotifications, by(ada), 'auth/unauthorized');
  });
});
