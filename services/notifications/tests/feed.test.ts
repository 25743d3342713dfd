import { randomUUID } from 'node:crypto';
import {
  type EventEnvelope,
  markAllNotificationsAsRead,
  markNotificationAsRead,
  type PublicUser,
  updateNotificationSettings,
} from '@kith/contracts';
import { startIdentity } from '@kith/identity';
import { createStore, handlerEngines, testSecrets, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { notificationIdOf } from '../src/notification-id.ts';
import { newUser } from './support/events.ts';
import { World } from './support/world.ts';

const dayMs = 24 * 3600 * 1000;

describe.each(handlerEngines())('events that change feeds (%s)', (engine) => {
  let world: World;
  let ann: PublicUser;
  beforeAll(async () => {
    world = await World.start(engine);
    ann = await world.user('Ann');
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  it('a request notifies the receiver, and an acceptance notifies the requester, with a snapshot of the other user', async () => {
    const bob = await world.user('Bob');
    const { connectionId, requested, accepted } = world.life(ann, bob);
    await world.publish(requested, accepted);
    await waitFor(async () => (await world.count(bob.id)) === 1 && (await world.count(ann.id)) === 1);
    const common = { projectId: world.projectId, action: 'open-profile', isRead: false };
    expect((await world.list(bob.id)).data).toEqual([
      {
        ...common,
        id: notificationIdOf(requested),
        userId: bob.id,
        type: 'connection-request',
        metadata: {
          connectionId,
          initiatorId: ann.id,
          initiatorName: 'Ann',
          initiatorUsername: 'ann',
          initiatorAvatar: 'https://example.com/Ann.png',
        },
        createdAt: requested.occurredAt,
        updatedAt: requested.occurredAt,
      },
    ]);
    expect((await world.list(ann.id)).data).toMatchObject([
      {
        ...common,
        id: notificationIdOf(accepted),
        type: 'connection-accepted',
        metadata: { connectionId, initiatorId: bob.id, initiatorName: 'Bob' },
      },
    ]);
  });

  it('a notification waits for identity, and has no name if identity does not know the initiator', async () => {
    await using place = await createStore(engine);
    await using own = await World.start(engine);
    const receiver = { id: randomUUID() };
    const stranger = newUser(own.projectId, 'Nobody');
    await own.publish(own.life(stranger, receiver).requested);
    // Identity starts only now, so the event had to wait until now.
    await using _identity = await startIdentity(own.runtime, { store: place.config, secrets: testSecrets });
    await waitFor(async () => (await own.count(receiver.id)) === 1);
    expect((await own.list(receiver.id)).data[0]?.metadata).toMatchObject({
      initiatorId: stranger.id,
      initiatorName: null,
      initiatorUsername: null,
      initiatorAvatar: null,
    });
  });

  it('an event makes no notification if the user has turned off its type, even if the event arrives again after the type is turned on', async () => {
    const bob = await world.user('Bob');
    const [asked, asking] = [world.life(ann, bob), world.life(bob, ann)];
    const turn = async (isOn: boolean) => {
      const types = { 'connection-request': isOn, 'connection-accepted': isOn };
      const body = JSON.stringify({ types });
      expect((await world.call(updateNotificationSettings, bob.id, { body })).status).toBe(200);
    };
    await turn(false);
    await world.publish(asked.requested, asking.accepted);
    await world.quiet(ann);
    await turn(true);
    await world.publish(asked.requested, asking.accepted);
    await world.quiet(ann);
    expect(await world.count(bob.id)).toBe(0);
    await world.publish(world.life(ann, bob).requested, world.life(bob, ann).accepted);
    await waitFor(async () => (await world.count(bob.id)) === 2);
  });

  it('a withdrawal or a block removes the request’s notification if it is unread, and no other notification', async () => {
    const receiver = { id: randomUUID() };
    const lives = Array.from({ length: 4 }, () => world.life(ann, receiver));
    const [stays, withdrawn, blocked, read] = lives as [
      (typeof lives)[0],
      (typeof lives)[0],
      (typeof lives)[0],
      (typeof lives)[0],
    ];
    await world.publish(...lives.map(({ requested }) => requested));
    await waitFor(async () => (await world.count(receiver.id)) === 4);
    const notificationId = notificationIdOf(read.requested);
    await world.call(markNotificationAsRead, receiver.id, { notificationId });
    await world.publish(withdrawn.withdrawn, blocked.blocked, read.withdrawn, withdrawn.withdrawn);
    await world.quiet(ann);
    const { data, pagination } = await world.list(receiver.id);
    expect(data.map(({ id, isRead }) => [id, isRead])).toEqual([
      [notificationId, true],
      [notificationIdOf(stays.requested), false],
    ]);
    expect(pagination.totalItems).toBe(2);
    expect(await world.count(receiver.id)).toBe(1);
    // If the events are delivered again, nothing changes.
    await world.publish(...lives.map(({ requested }) => requested));
    await world.quiet(ann);
    expect((await world.list(receiver.id)).data).toEqual(data);
  });

  it('a request that arrives after its withdrawal makes no notification', async () => {
    const receiver = { id: randomUUID() };
    const [one, two] = [world.life(ann, receiver), world.life(ann, receiver)];
    await world.publish(one.withdrawn, one.requested, two.blocked, two.requested);
    await world.quiet(ann);
    expect((await world.list(receiver.id)).data).toEqual([]);
    expect(await world.count(receiver.id)).toBe(0);
  });

  it('each notification is made once, even if two processes get 50 events several times and in any order', async () => {
    await using own = await World.start(engine, { instances: 2 });
    const people = await Promise.all(['Cat', 'Dan', 'Eve'].map((name) => own.user(name)));
    const receiver = await own.user('Rea');
    const lives = Array.from({ length: 25 }, (_, index) =>
      own.life(people[index % people.length] as PublicUser, receiver),
    );
    const taken = lives.filter((_, index) => index % 3 === 0);
    const kept = lives.filter((_, index) => index % 3 !== 0);
    const events = [...lives.map(({ requested }) => requested), ...taken.map(({ withdrawn }) => withdrawn)];
    events.push(...kept.map(({ accepted }) => accepted));
    expect(events).toHaveLength(50);
    for (let round = 0; round < 3; round++) {
      const shuffled: EventEnvelope[] = events.toSorted(() => Math.random() - 0.5);
      for (let at = 0; at < shuffled.length; at += 10) {
        await Promise.all(shuffled.slice(at, at + 10).map((event) => own.publish(event)));
      }
    }
    await own.quiet(people[0] as PublicUser);
    const expected = kept.map(({ requested }) => notificationIdOf(requested)).sort();
    const ids = async () => (await own.list(receiver.id)).data.map(({ id }) => id).sort();
    await waitFor(async () => (await ids()).join() === expected.join(), { what: 'the notifications' });
    expect(await own.count(receiver.id)).toBe(expected.length);
    expect((await own.list(receiver.id)).pagination.totalItems).toBe(expected.length);
    const accepted = await Promise.all(people.map(async ({ id }) => (await own.list(id)).data));
    expect(
      accepted
        .flat()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(kept.map((life) => notificationIdOf(life.accepted)).sort());
  }, 60_000);

  it('notifications are kept as long as configured, and the counts are right when some expire', async () => {
    let later = 0;
    const now = () => Date.now() + later;
    await using own = await World.start(engine, { keepDays: 1, expireEveryMs: 50, now });
    const initiator = await own.user('Fay');
    const receiver = { id: randomUUID() };
    const old = own.life(initiator, receiver, new Date(Date.now() - dayMs - 1));
    const soonOld = own.life(initiator, receiver, new Date(Date.now() - dayMs / 2));
    const fresh = own.life(initiator, receiver);
    await own.publish(old.requested, soonOld.requested, fresh.requested);
    await own.quiet(initiator);
    expect(await own.count(receiver.id)).toBe(2);
    later = (dayMs * 3) / 4;
    await waitFor(async () => (await own.count(receiver.id)) === 1);
    const { data, pagination } = await own.list(receiver.id);
    expect(data.map(({ id }) => id)).toEqual([notificationIdOf(fresh.requested)]);
    expect(pagination.totalItems).toBe(1);
    expect((await own.store.feed({ projectId: own.projectId, userId: receiver.id })).expiredTo).toBe(1);
    const { json } = await own.call(markAllNotificationsAsRead, receiver.id);
    expect(json).toEqual({ markedAsRead: 1 });
  });

  it('an event is published for each notification, with the feed as its aggregate', async () => {
    const events: EventEnvelope[] = [];
    const subjects = [`${world.runtime.bus.prefix}.event.${world.projectId}.notification.>`];
    const intake = await world.runtime.bus.consume(
      { durable: `t-${randomUUID()}`, subjects },
      async ({ body }) => {
        events.push(JSON.parse(new TextDecoder().decode(body)));
      },
    );
    const receiver = { id: randomUUID() };
    await world.publish(world.life(ann, receiver).requested, world.life(ann, receiver).requested);
    const bySeq = (one: EventEnvelope, other: EventEnvelope) => one.aggregate.seq - other.aggregate.seq;
    const own = () => events.filter(({ aggregate }) => aggregate.id === receiver.id).sort(bySeq);
    await waitFor(() => own().length === 2);
    await intake.drain();
    const { data } = await world.list(receiver.id);
    expect(
      own().map(({ type, aggregate, actorId, data: item }) => ({ type, aggregate, actorId, item })),
    ).toEqual(
      data.toReversed().map((item, index) => ({
        type: 'notification.created',
        aggregate: { type: 'feed', id: receiver.id, seq: index + 1 },
        actorId: ann.id,
        item,
      })),
    );
  });
});
