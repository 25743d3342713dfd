import { randomUUID } from 'node:crypto';
import { Turns } from '@kith/base';
import {
  createNotifications,
  feedSubject,
  markAllNotificationsAsRead,
  markNotificationAsRead,
  type PublicUser,
} from '@kith/contracts';
import { startService } from '@kith/service';
import { apart, keepReplyMs } from '@kith/store';
import { callOperation, createRuntime, handlerEngines, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AppContext } from '../src/app.ts';
import { createHandler } from '../src/operations/create.ts';
import { World } from './support/world.ts';

describe.each(handlerEngines())('concurrent readers of one feed (%s)', (engine) => {
  let world: World;
  let ann: PublicUser;
  beforeAll(async () => {
    world = await World.start(engine, { instances: 2 });
    ann = await world.user('Ann');
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  it('if many requests mark all as read, each unread notification is counted by only one of them', async () => {
    const { id, ids } = await world.receiver(ann, 5);
    await world.call(markNotificationAsRead, id, { notificationId: ids[2] as string });
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => world.call(markAllNotificationsAsRead, id)),
    );
    const marked = answers.map(({ json }) => (json as { markedAsRead: number }).markedAsRead);
    expect(marked.reduce((sum, one) => sum + one, 0)).toBe(4);
    expect(await world.count(id)).toBe(0);
    const { data } = await world.list(id);
    expect(data.every(({ isRead }) => isRead)).toBe(true);
    // A new notification arrives, and all are marked as read again. The earlier notifications keep the time at which they were
    // read first.
    await world.publish(world.life(ann, { id }).requested);
    await waitFor(async () => (await world.count(id)) === 1);
    expect((await world.call(markAllNotificationsAsRead, id)).json).toEqual({ markedAsRead: 1 });
    expect((await world.list(id)).data.slice(1)).toEqual(data);
  });

  it('if 20 requests mark one notification each and one request marks all, each notification is counted once', async () => {
    const { id, ids } = await world.receiver(ann, 10);
    const answers = await Promise.all([
      ...ids.flatMap((notificationId) => [
        world.call(markNotificationAsRead, id, { notificationId }),
        world.call(markNotificationAsRead, id, { notificationId }),
      ]),
      world.call(markAllNotificationsAsRead, id),
    ]);
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(await world.count(id)).toBe(0);
  });

  it('a request that has changed some of its feeds is not answered as if nothing was done', async () => {
    const { projectId, store, runtime } = world;
    const people = [await world.user('One'), await world.user('Two')];
    const [first = '', second = ''] = people.map(({ id }) => id).sort();
    const app = {
      ...{ store, bus: runtime.bus, relay: { kick() {} }, turns: new Turns(), epoch: 0 },
      ...{ keepMs: 60_000, now: Date.now },
    };
    const change = store.change.bind(store);
    const notify = (contested: string) => {
      // Every change of the feed of `contested` is refused, as if another change always came first.
      store.change = async (feed, made) => feed.owner.userId !== contested && change(feed, made);
      const body = { userIds: [first, second], type: 'order-shipped' };
      const of = { requestId: 'test', serverKey: { keyId: randomUUID() }, audit: { tell() {} } };
      return createHandler.handle({ ...of, projectId, body, deadline: Date.now() + 600 } as never, app);
    };
    await expect(notify(first)).rejects.toMatchObject({ code: 'gateway/unavailable' });
    expect(await Promise.all([first, second].map((id) => world.count(id)))).toEqual([0, 0]);
    await expect(notify(second)).rejects.toMatchObject({ code: 'gateway/timeout' });
    expect(await Promise.all([first, second].map((id) => world.count(id)))).toEqual([1, 0]);
    store.change = change;
  });

  it('a request that is repeated with its key notifies nobody for a day, and notifies again after this day', async () => {
    const { projectId, store, runtime } = world;
    const { id } = await world.user('Three');
    // This time is in the middle of a window, so the last two repeats are in the next window.
    const begin = (Math.floor(Date.now() / keepReplyMs) + 0.5) * keepReplyMs;
    let now = begin;
    const app = {
      ...{ store, bus: runtime.bus, relay: { kick() {} }, turns: new Turns(), epoch: 0 },
      ...{ keepMs: 10 * keepReplyMs, now: () => now },
    };
    const of = { requestId: 'test', serverKey: { keyId: randomUUID() }, audit: { tell() {} } };
    const body = { userIds: [id], type: 'digest' };
    const counts: number[] = [];
    for (const days of [0, 0.2, 0.9, 1.1]) {
      now = begin + days * keepReplyMs;
      const given = { ...of, projectId, body, idempotencyKey: 'daily', deadline: Date.now() + 60_000 };
      await createHandler.handle(given as never, app);
      counts.push(await world.count(id));
    }
    expect(counts).toEqual([1, 1, 1, 2]);
  });

  it('if a request has a key and has changed some of its feeds, the answer does not say that nothing was done', async () => {
    const { projectId, store } = world;
    await using runtime = await createRuntime(engine);
    const { bus } = runtime;
    const people = [await world.user('One'), await world.user('Two')];
    const userIds = people.map(({ id }) => id).sort();
    const [first = '', second = ''] = userIds;
    const app = {
      ...{ store, bus, relay: { kick() {} }, turns: new Turns(), epoch: 0 },
      ...{ keepMs: 60_000, now: Date.now },
    };
    await using _service = await startService<AppContext>(
      runtime,
      { name: 'notifications', operations: { createHandler } },
      { app, replies: store.replies },
    );
    const woken = new Set<string>();
    for (const userId of userIds)
      await bus.listen(feedSubject(bus.prefix, { projectId, userId }), () => void woken.add(userId));
    const change = store.change.bind(store);
    // The store makes the change of the first feed last, and another change of this feed always comes first.
    store.change = async (feed, made) => {
      if (feed.owner.userId === first) await apart(() => change(feed, { feed }));
      return change(feed, made);
    };
    const key = { serverKey: { keyId: randomUUID() }, idempotencyKey: randomUUID() };
    const body = { userIds, type: 'order-shipped' };
    const given = { projectId, body, ...key, deadline: Date.now() + 4_000 };
    const answer = await callOperation(bus, createNotifications, given);
    store.change = change;
    // SQLite makes all changes of a request or none. MongoDB keeps the change of the second feed.
    const isPartly = engine === 'containers';
    expect(answer.body.code).toBe(isPartly ? 'gateway/timeout' : 'gateway/unavailable');
    expect(await Promise.all(userIds.map((id) => world.count(id)))).toEqual([0, isPartly ? 1 : 0]);
    await waitFor(() => woken.has(second) === isPartly, { what: 'the wake of the changed feed' });
  });
});
