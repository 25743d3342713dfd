import { randomUUID } from 'node:crypto';
import { Turns } from '@kith/base';
import {
  countNotifications,
  type EventEnvelope,
  errorBody,
  listNotifications,
  markAllNotificationsAsRead,
  markNotificationAsRead,
} from '@kith/contracts';
import { answerInTime, availableEngines, fragileStore, waitFor } from '@kith/testing';
import { describe, expect, it } from 'vitest';
import type { AppContext } from '../src/app.ts';
import { addNotification } from '../src/events/add.ts';
import { startNotifications } from '../src/index.ts';
import { newUser } from './support/events.ts';
import { World } from './support/world.ts';

describe.each(availableEngines())('trouble (%s)', (engine) => {
  it('a database that is gone is answered as app-notification/server-error, before the caller gives up', async () => {
    await using world = await World.start(engine, { instances: 0 });
    await using place = await fragileStore(world.place);
    await using service = await startNotifications(world.runtime, { store: place.config });
    const userId = randomUUID();
    expect(await world.count(userId)).toBe(0);
    expect(await service.notReady()).toEqual([]);
    place.takeDown();
    const specs = [listNotifications, countNotifications, markAllNotificationsAsRead, markNotificationAsRead];
    const answers = await Promise.all(
      // These are several changes of one user at the same time. None of them waits until the others have failed.
      [...specs, markAllNotificationsAsRead].map((spec) =>
        answerInTime((timeoutMs) =>
          world.call(spec, userId, {
            timeoutMs,
            ...(spec === markNotificationAsRead ? { notificationId: randomUUID() } : {}),
          }),
        ),
      ),
    );
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 500, json: errorBody('app-notification/server-error') });
    }
  });

  it('what a process stored and did not publish before it died is published by the next', async () => {
    await using world = await World.start(engine, { instances: 0 });
    const { bus } = world.runtime;
    const told: EventEnvelope[] = [];
    const subjects = [`${bus.prefix}.event.*.notification.>`];
    await bus.consume({ durable: `t-${randomUUID()}`, subjects }, async ({ body }) => {
      told.push(JSON.parse(new TextDecoder().decode(body)));
    });
    const relay = { kick: () => undefined };
    const app: AppContext = {
      store: world.store,
      bus,
      relay,
      turns: new Turns(),
      keepMs: 60_000,
      now: Date.now,
    };
    const initiator = newUser(world.projectId, 'Ann');
    await world.store.profiles.keep({ seq: 1, user: initiator });
    const receiver = { id: randomUUID() };
    const { requested, connectionId } = world.life(initiator, receiver);
    const of = {
      userId: receiver.id,
      type: 'connection-request',
      connectionId,
      initiatorId: initiator.id,
    } as const;
    await addNotification(app, requested, of);
    expect(told).toEqual([]);
    await using _next = await startNotifications(world.runtime, { store: world.place });
    await waitFor(() => told.length === 1);
    // The process died before it acknowledged the event. So the event is delivered again.
    await world.publish(requested);
    await world.quiet(initiator);
    expect(await world.count(receiver.id)).toBe(1);
    expect(told.filter(({ aggregate }) => aggregate.id === receiver.id)).toHaveLength(1);
  });
});
