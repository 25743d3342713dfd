import { randomUUID } from 'node:crypto';
import { exportNotifications, markNotificationAsRead } from '@kith/contracts';
import { handlerEngines, readSection } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { World } from '../support/world.ts';

describe.each(handlerEngines())('the export of a user’s notifications (%s)', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await World.start(engine);
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const read = (userId: string, limit: number) =>
    readSection(world.runtime.bus, exportNotifications, { projectId: world.projectId, userId, limit });

  it('returns the same notifications as the list, page by page', async () => {
    const ann = await world.user('Ann');
    const { id } = await world.receiver(ann, 5);
    const [, second] = (await world.list(id)).data;
    await world.call(markNotificationAsRead, id, { notificationId: second?.id ?? '' });
    const { data } = await world.list(id);
    expect(data.map(({ isRead }) => isRead)).toEqual([false, true, false, false, false]);
    const pages = await read(id, 2);
    expect(pages.map((page) => page.length)).toEqual([2, 2, 1]);
    expect(pages.flat()).toEqual(data);
    expect(await read(id, 5)).toEqual([data]);
  });

  it('is empty for a user without notifications', async () => {
    expect(await read(randomUUID(), 2)).toEqual([[]]);
  });
});
