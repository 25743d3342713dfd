import { randomUUID } from 'node:crypto';
import {
  type AppNotification,
  type BodyOf,
  closeFeed,
  countNotifications,
  errorBody,
  feedAfter,
  type InternalOperationSpec,
  listNotifications,
  markAllNotificationsAsRead,
  markNotificationAsRead,
  openFeed,
  type PublicUser,
} from '@kith/contracts';
import { ask as askService } from '@kith/service';
import { handlerEngines, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { World } from '../support/world.ts';

describe.each(handlerEngines())('the operations of a feed (%s)', (engine) => {
  let world: World;
  let ann: PublicUser;
  beforeAll(async () => {
    world = await World.start(engine);
    ann = await world.user('Ann');
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  it('a user without notifications has an empty list and a count of 0', async () => {
    const id = randomUUID();
    expect(await world.call(listNotifications, id)).toMatchObject({
      status: 200,
      json: {
        data: [],
        pagination: { page: 1, pageSize: 5, totalPages: 0, totalItems: 0, hasMore: false },
      },
    });
    expect(await world.call(countNotifications, id)).toMatchObject({ status: 200, json: 0 });
    expect(await world.call(markAllNotificationsAsRead, id)).toMatchObject({
      status: 200,
      json: { markedAsRead: 0 },
    });
  });

  it('lists the same notifications by page and by cursor, and returns a bare array only under /api/v6', async () => {
    const { id, ids } = await world.receiver(ann, 7);
    const page = async (query: string) => {
      const answer = await world.call(listNotifications, id, { query });
      const json = answer.json as { data: AppNotification[]; pagination: unknown };
      return { ids: json.data.map((item) => item.id), pagination: json.pagination, next: answer.next };
    };
    const first = await page('limit=3');
    expect(first).toEqual({
      ids: ids.slice(0, 3),
      pagination: { page: 1, pageSize: 3, totalPages: 3, totalItems: 7, hasMore: true },
      next: expect.stringMatching(/^limit=3&cursor=[A-Za-z0-9_-]+$/),
    });
    const second = await page(first.next ?? '');
    expect(second).toMatchObject({ ids: ids.slice(3, 6), pagination: { page: 2, hasMore: true } });
    expect(await page('page=2&limit=3')).toMatchObject({ ids: ids.slice(3, 6), pagination: { page: 2 } });
    expect(await page(second.next ?? '')).toEqual({
      ids: ids.slice(6),
      pagination: { page: 3, pageSize: 3, totalPages: 3, totalItems: 7, hasMore: false },
      next: undefined,
    });
    expect(await page('page=9007199254740993')).toMatchObject({ ids: [], next: undefined });
    expect(await page('limit=1000')).toMatchObject({ pagination: { pageSize: 50 } });

    const bare = await world.call(listNotifications, id, { form: '/api/v6' });
    expect((bare.json as AppNotification[]).map((item) => item.id)).toEqual(ids.slice(0, 5));
    for (const form of ['/v6', '/v7', '/api/v7', '']) {
      expect((await world.call(listNotifications, id, { form })).json).toHaveProperty('data');
    }
    // A notification arrives after the first page was read. It does not move any row to another page.
    await world.publish(world.life(ann, { id }).requested);
    await waitFor(async () => (await world.count(id)) === 8);
    expect((await page(first.next ?? '')).ids).toEqual(ids.slice(3, 6));
  });

  it.each([
    ['page=0', 'page', 'page must be a number of at least 1.'],
    ['limit=-1', 'limit', 'limit must be a number from 1 to 50.'],
    ['page=1&page=2', 'page', 'page must be given only once.'],
    ['cursor=x', 'cursor', 'cursor does not belong to this list. Start the list again without a cursor.'],
  ])('refuses the query %s', async (query, field, message) => {
    expect(await world.call(listNotifications, randomUUID(), { query })).toMatchObject({
      status: 400,
      json: { error: message, code: 'app-notification/invalid-query', field },
    });
  });

  it('refuses another user’s cursor', async () => {
    const { id } = await world.receiver(ann, 2);
    const { next } = await world.call(listNotifications, id, { query: 'limit=1' });
    const answer = await world.call(listNotifications, randomUUID(), { query: next ?? '' });
    expect(answer).toMatchObject({ status: 400, json: { field: 'cursor' } });
  });

  it('marks one notification as read; a repeated request changes nothing', async () => {
    const { id, ids } = await world.receiver(ann, 2);
    const notificationId = (ids[0] as string).toUpperCase();
    const before = (await world.list(id)).data[0];
    const first = await world.call(markNotificationAsRead, id, { notificationId });
    expect(first).toMatchObject({
      status: 200,
      json: { ...before, isRead: true, updatedAt: expect.any(String) },
    });
    expect((first.json as AppNotification).updatedAt > (before?.updatedAt ?? '')).toBe(true);
    expect(await world.count(id)).toBe(1);
    expect(await world.call(markNotificationAsRead, id, { notificationId })).toEqual(first);
    expect(await world.count(id)).toBe(1);
    expect((await world.list(id)).data[0]).toEqual(first.json);
  });

  it('gives the same answer for another user’s, another project’s, an unknown and a malformed id', async () => {
    const { id, ids } = await world.receiver(ann, 1);
    const notificationId = ids[0] as string;
    const answers = await Promise.all([
      world.call(markNotificationAsRead, randomUUID(), { notificationId }),
      world.call(markNotificationAsRead, id, { notificationId, projectId: randomUUID() }),
      world.call(markNotificationAsRead, id, { notificationId: randomUUID() }),
      world.call(markNotificationAsRead, id, { notificationId: 'x' }),
    ]);
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 404, json: errorBody('app-notification/not-found') });
    }
    expect(await world.count(id)).toBe(1);
  });

  it('if the request to open a stream is repeated, the repetition removes no other stream', async () => {
    const userId = randomUUID();
    const ask = <O extends InternalOperationSpec>(spec: O, body: BodyOf<O>) =>
      askService(world.runtime.bus, spec, body, { requestId: 't', deadline: Date.now() + 10_000 });
    const [first, second] = [1, 2].map(() => ({
      projectId: world.projectId,
      userId,
      streamId: randomUUID(),
    })) as [BodyOf<typeof openFeed>, BodyOf<typeof openFeed>];
    for (const stream of [first, second, second, second, second, second]) await ask(openFeed, stream);
    for (const stream of [first, second]) {
      expect(await ask(feedAfter, { ...stream, after: 0, limit: 1 })).toMatchObject({ evicted: false });
    }
    await ask(closeFeed, second);
    expect(await ask(feedAfter, { ...second, after: 0, limit: 1 })).toMatchObject({ evicted: true });
  });

  it.each([
    ['{', { error: 'The body is not a JSON object.', code: 'request/invalid-json' }],
    ['[]', { error: 'The body is not a JSON object.', code: 'request/invalid-json' }],
  ])('refuses the body %s', async (body, json) => {
    expect(await world.call(markAllNotificationsAsRead, randomUUID(), { body })).toMatchObject({
      status: 400,
      json,
    });
  });
});
