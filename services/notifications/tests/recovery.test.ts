import { randomUUID } from 'node:crypto';
import { Turns } from '@kith/base';
import {
  type BodyOf,
  countNotifications,
  type EventEnvelope,
  errorBody,
  feedAfter,
  type InternalOperationSpec,
  listNotifications,
  markAllNotificationsAsRead,
  markNotificationAsRead,
  openFeed,
} from '@kith/contracts';
import { ask as askService } from '@kith/service';
import { noteRestored } from '@kith/store/open';
import { answerInTime, fragileStore, handlerEngines, waitFor } from '@kith/testing';
import { describe, expect, it } from 'vitest';
import type { AppContext } from '../src/app.ts';
import { addNotification } from '../src/events/add.ts';
import { startNotifications } from '../src/index.ts';
import { newUser } from './support/events.ts';
import { World } from './support/world.ts';

describe.each(handlerEngines())('failures (%s)', (engine) => {
  it('if the database cannot be reached, the answer is app-notification/server-error, before the caller gives up', async () => {
    await using world = await World.start(engine, { instances: 0 });
    await using place = await fragileStore(world.place);
    await using service = await startNotifications(world.runtime, { store: place.config });
    const userId = randomUUID();
    expect(await world.count(userId)).toBe(0);
    expect(await service.notReady()).toEqual([]);
    place.takeDown();
    const specs = [listNotifications, countNotifications, markAllNotificationsAsRead, markNotificationAsRead];
    const answers = await Promise.all(
      // Several of the requests are changes of the same feed, so one may have to wait for another. Nevertheless, each request
      // fails before its caller gives up.
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

  it('the next process publishes an event that a dead process had stored but not published', async () => {
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
      epoch: 0,
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

  it('after a restore, a stream resumes only from a position of the restored feed', async () => {
    await using world = await World.start(engine, { instances: 0 });
    const { projectId, runtime, place } = world;
    const ask = <O extends InternalOperationSpec>(spec: O, body: BodyOf<O>) =>
      askService(runtime.bus, spec, body, { requestId: 't', deadline: Date.now() + 10_000 });
    const stream = { projectId, userId: randomUUID(), streamId: randomUUID() };
    const tell = async (count: number) => {
      await world.publish(world.life(ann, { id: stream.userId }).requested);
      await waitFor(async () => (await world.count(stream.userId)) === count);
    };
    const after = (seq: number) => ask(feedAfter, { ...stream, after: seq, limit: 10 });
    let ann = newUser(projectId, 'Ann');
    {
      await using _before = await startNotifications(runtime, { store: place });
      ann = await world.user('Ann');
      for (const count of [1, 2]) await tell(count);
      expect(await ask(openFeed, stream)).toEqual({ seq: 2 });
      expect(await after(1)).toMatchObject({ items: [{ seq: 2 }], seq: 2, reset: false });
    }
    await noteRestored(place);
    await using _restored = await startNotifications(runtime, { store: place });
    const { seq } = await ask(openFeed, stream);
    // In the restored feed, these positions may belong to other notifications.
    for (const earlier of [1, 2, 100])
      expect(await after(earlier)).toMatchObject({ items: [], seq, reset: true });
    expect(await after(seq)).toMatchObject({ items: [], seq, reset: false });
    await tell(3);
    const next = await after(seq);
    expect(next).toMatchObject({ items: [{ seq: next.seq }], reset: false });
    expect(next.seq).toBeGreaterThan(seq);
    expect((await after(0)).items).toHaveLength(3);
  });
});
