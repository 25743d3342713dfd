import { randomUUID } from 'node:crypto';
import { Turns } from '@kith/base';
import { markAllNotificationsAsRead, markNotificationAsRead, type PublicUser } from '@kith/contracts';
import { availableEngines, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHandler } from '../src/operations/create.ts';
import { World } from './support/world.ts';

describe.each(availableEngines())('concurrent readers of one feed (%s)', (engine) => {
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

  it('a request that has changed some of its feeds does not answer that nothing was done', async () => {
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
});
